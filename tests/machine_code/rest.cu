// Forms that came late, as tests/unit/test_mc_kernels.c computes them on a CPU: votes of tiles with masks of their own,
// minimum and maximum of doubles that are no numbers, halves without their sign, saturated integers, products less
// 64 bits. Recorded: for sm in 80 86 90: nvcc -cubin -arch=sm_$sm -o rest.sm_$sm.cubin rest.cu
#include <cuda_fp16.h>

#define T (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void tile_votes(int *out, const int *in) {
  unsigned lane = threadIdx.x & 31, pair = 0xffffu << (lane & 16), four = 15u << (lane & 28);
  unsigned value = in[T] & 255, r = __shfl_xor_sync(four, value, 1, 4);
  r = r * 3 + (__ballot_sync(pair, value & 1) >> (lane & 16));
  r = r * 5 + __all_sync(four, value > 3);
  out[T] = r * 7 + __any_sync(four, value & 64);
}

extern "C" __global__ void double_extremes(int *out, const int *in) {
  double a = in[T] & 1 ? __longlong_as_double(-1) : (in[T] & 255) * 0.5 - 20, b = in[T] & 2 ? __longlong_as_double(-1) : (in[T] >> 8 & 63) - 7.0;
  double low = fmin(a, b), high = fmax(a, b);
  out[T] = (low != low ? 1000 : (int)(low * 4)) * 3 + (high != high ? 2000 : (int)(high * 4));
}

extern "C" __global__ void bare(int *out, const int *in) {
  half h = __ushort_as_half((in[T] & 0xff) << 8 | 1);
  double d = (in[T] & 255) - 100.0;
  float root = __half2float(hsqrt(__habs(h)));
  out[T] = (root == root ? (int)(root * 16) : -1) * 5 + (int)fma(d, -d, fabs(d * 3 - 50));
}

extern "C" __global__ void saturated(int *out, const int *in) {
  int a = in[T] << (in[T] & 31), b = in[T] * 77777777, r, s = in[T] * 5, u;
  asm("add.sat.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  asm("sub.sat.s32 %0, %1, %2;" : "=r"(u) : "r"(a), "r"(b));
  r = r * 3 + u;
  asm("cvt.sat.u8.s32 %0, %1;" : "=r"(u) : "r"(s - 300));
  r = r * 3 + u;
  asm("cvt.sat.s16.s32 %0, %1;" : "=r"(u) : "r"(s << 8));
  r = r * 3 + u;
  out[T] = r * 3 + __clz(~b);
}

extern "C" __global__ void less(int *out, const int *in) {
  long long x = (long long)in[T] * (in[T] * 99991) - in[T ^ 1];
  out[T] = (int)(x >> 7) + 5 * (int)(x >> 32);
}

extern "C" __global__ void dynamic(int *out, const int *in) {
  unsigned bytes;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  out[T] = (int)bytes + in[T];
}

extern "C" __global__ void reduced(int *out, const int *in) {
  unsigned value = in[T] & 255, lane = threadIdx.x & 31, r = 0;
  if (value & 1)
    r = __reduce_add_sync(__activemask(), value);
  if (lane < 10)
    r += 1000 * __reduce_min_sync(0x3ff, value);
  out[T] = r;
}
