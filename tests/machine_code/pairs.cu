// Pairs of halves (f16) and of bfloat16s, as tests/unit/test_mc_kernels.c computes them on a CPU. Recorded: for sm in 80 86 90:
// nvcc -cubin -std=c++17 -arch=sm_$sm -o pairs.sm_$sm.cubin pairs.cu
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstring>

template <typename To, typename From> __device__ To as(From from) {
  static_assert(sizeof(To) == sizeof(From), "bits are kept");
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define WORD(t) (in[t] * 2654435761u) // of all 32 bits

extern "C" __global__ void half_compared(unsigned *out, const unsigned *in) {
  int t = THREAD;
  __half2 a = as<__half2>(WORD(t)), b = as<__half2>(WORD(t ^ 1));
  unsigned sum = __hlt2_mask(a, b) + 3 * __hequ2_mask(a, __half2(__low2half(b), __low2half(b)));
  sum += 5 * as<unsigned>(__hge2(__habs2(a), __hneg2(b))) + 7 * as<unsigned>(__hneu2(a, __floats2half2_rn(1.5f, -2.f)));
  sum += (__hlt(__low2half(a), __low2half(b)) ? 11 : 0) + (__hbgtu2(a, b) ? 13 : 0) + (__hisnan(__high2half(a)) ? 17 : 0);
  out[t] = sum;
}

extern "C" __global__ void half_extremes(unsigned *out, const unsigned *in) {
  int t = THREAD;
  __half2 a = as<__half2>(WORD(t)), b = as<__half2>(WORD(t ^ 1));
  out[t] = as<unsigned>(__hmin2(a, b)) + 3 * as<unsigned>(__hmax2_nan(a, b)) +
           5 * as<unsigned>(__hmax2(__habs2(a), __floats2half2_rn(0.25f, 100.f)));
}

extern "C" __global__ void half_sums(unsigned *out, const unsigned *in) {
  int t = THREAD;
  __half2 a = as<__half2>(WORD(t)), b = as<__half2>(WORD(t ^ 1));
  out[t] = as<unsigned>(__hfma2_relu(a, b, a)) + 3 * as<unsigned>(__hadd2_sat(a, b));
}

extern "C" __global__ void brain_compared(unsigned *out, const unsigned *in) {
  int t = THREAD;
  __nv_bfloat162 a = as<__nv_bfloat162>(WORD(t)), b = as<__nv_bfloat162>(WORD(t ^ 1));
  unsigned sum = __hlt2_mask(a, b) + 3 * __hequ2_mask(a, b) + 5 * as<unsigned>(__hgeu2(a, b));
  out[t] = sum + (__hlt(__low2bfloat16(a), __low2bfloat16(b)) ? 11 : 0) + as<unsigned>(__hmin2(a, b)) +
           3 * as<unsigned>(__hmax2_nan(a, b));
}

extern "C" __global__ void brain_sums(unsigned *out, const unsigned *in) {
  int t = THREAD;
  __nv_bfloat162 a = as<__nv_bfloat162>(WORD(t)), b = as<__nv_bfloat162>(WORD(t ^ 1));
  out[t] = as<unsigned>(__hadd2(a, b)) + 3 * as<unsigned>(__hmul2(a, __floats2bfloat162_rn(1.5f, -3.f))) +
           5 * as<unsigned>(__hfma2(a, b, a)) + 7 * as<unsigned>(__hfma2_relu(a, b, b));
}

// The input as floats and integers.
extern "C" __global__ void brain_converted(unsigned *out, const unsigned *in) {
  int t = THREAD;
  float a = as<float>(WORD(t));
  __nv_bfloat16 low = __low2bfloat16(as<__nv_bfloat162>(WORD(t) & 0x43ff43ff));
  unsigned sum = as<unsigned>(__floats2bfloat162_rn(a, 1.25f));
  sum = (sum << 5 | sum >> 27) ^ as<unsigned short>(__float2bfloat16(a));
  sum = (sum << 5 | sum >> 27) ^ as<unsigned short>(__float2bfloat16_rz(a));
  sum = (sum << 5 | sum >> 27) ^ as<unsigned short>(__float2bfloat16_rd(a));
  sum = (sum << 5 | sum >> 27) ^ as<unsigned short>(__float2bfloat16_ru(a));
  sum = (sum << 5 | sum >> 27) ^ as<unsigned short>(__int2bfloat16_rn((int)WORD(t)));
  sum = (sum << 5 | sum >> 27) ^ as<unsigned short>(__uint2bfloat16_rn(WORD(t)));
  sum = (sum << 5 | sum >> 27) ^ (unsigned)__bfloat162int_rz(low);
  out[t] = (sum << 5 | sum >> 27) ^ as<unsigned short>(hrint(low));
}

extern "C" __global__ void halves_added(unsigned *out, const unsigned *in) {
  int t = THREAD;
  out[t] = WORD(t ^ 1);
  __half2 old = atomicAdd((__half2 *)&out[t], as<__half2>(WORD(t)));
  atomicAdd((__half2 *)&out[t], old);
}

extern "C" __global__ void brains_added(unsigned *out, const unsigned *in) {
  int t = THREAD;
  out[t] = WORD(t ^ 1);
  __nv_bfloat162 old = atomicAdd((__nv_bfloat162 *)&out[t], as<__nv_bfloat162>(WORD(t)));
  atomicAdd((__nv_bfloat162 *)&out[t], old);
}
