// Bytes and halves of words, and branches that all lanes take alike, as tests/unit/test_mc_kernels.c computes them on a CPU. Recorded:
// for sm in 80 86 90: nvcc -cubin -std=c++17 -arch=sm_$sm -o vectors.sm_$sm.cubin vectors.cu
#include <cstring>
#include <cuda_fp16.h>

template <typename To, typename From> __device__ To as(From from) {
  static_assert(sizeof(To) == sizeof(From), "bits are kept");
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define WORD(t) (in[t] * 2654435761u) // of all 32 bits

#define DOT(how, a, b, c)                                                   \
  [&] {                                                                     \
    int d;                                                                  \
    asm("dp2a." how " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c)); \
    return (unsigned)d;                                                     \
  }()

extern "C" __global__ void dots(unsigned *out, const unsigned *in) {
  int t = THREAD;
  unsigned a = WORD(t), b = WORD(t ^ 1), c = WORD(t ^ 3);
  out[t] = DOT("lo.u32.u32", a, b, c) + 3 * DOT("hi.s32.s32", a, b, c) + 5 * DOT("lo.s32.u32", a, b, c) +
           7 * DOT("hi.u32.s32", a, b, c);
}

extern "C" __global__ void differences(unsigned *out, const unsigned *in) {
  int t = THREAD;
  unsigned a = WORD(t), b = WORD(t ^ 1), c = WORD(t ^ 3);
  unsigned sum, other;
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
  asm("vabsdiff4.s32.s32.s32.add %0, %1, %2, %3;" : "=r"(other) : "r"(a), "r"(b), "r"(c));
  out[t] = __vabsdiffu4(a, b) + 3 * sum + 5 * other;
}

extern "C" __global__ void extremes(unsigned *out, const unsigned *in) {
  int t = THREAD;
  int a = WORD(t), b = WORD(t ^ 1), c = WORD(t ^ 3);
  bool high, low, high_max, low_max;
  unsigned least = __vibmin_u16x2(a, b, &high, &low),
           most = __vibmax_s16x2(a, (b & 0xffff) | (a & 0xffff0000), &high_max, &low_max);
  unsigned sum = __vimax_s32_relu(a, b) + 3u * __vimin3_s32_relu(a, b, c) + 5 * __vimax_s16x2_relu(a, b) +
                 7 * __vimin3_s16x2_relu(a, b, c) + 11 * __viaddmin_s16x2(a, b, c) +
                 13 * __viaddmax_s16x2_relu(a, b, c) + 17 * __viaddmin_s32_relu(a, b, c) +
                 19 * __viaddmax_u16x2(a, b, c) + 23 * __vimax3_u16x2(a, b, c);
  out[t] = sum + 29 * least + 31 * most + (high ? 37 : 0) + (low ? 41 : 0) + (high_max ? 43 : 0) + (low_max ? 47 : 0);
}

// ptxas makes one instruction of two on sm_90.
extern "C" __global__ void extremes_of_halves(unsigned *out, const unsigned *in) {
  int t = THREAD;
  __half2 a = as<__half2>(WORD(t)), b = as<__half2>(WORD(t ^ 1)), c = as<__half2>(WORD(t ^ 3));
  out[t] = as<unsigned>(__hmax2_nan(__hmax2_nan(a, b), c)) + 3 * as<unsigned>(__hmin2_nan(__hmin2_nan(a, b), c));
}

extern "C" __global__ void rounded(unsigned *out, const unsigned *in) {
  int t = THREAD;
  __half2 a = as<__half2>(WORD(t) & 0x57ff57ff);
  out[t] = as<unsigned>(h2floor(a)) + 3 * as<unsigned>(h2ceil(a)) + 5 * as<unsigned>(h2trunc(a)) +
           7 * as<unsigned>(h2rint(a));
}

extern "C" __global__ void tangents(unsigned *out, const unsigned *in) {
  int t = THREAD;
  unsigned of_halves, of_brains, word = WORD(t) & 0xbfffbfff;
  asm("tanh.approx.f16x2 %0, %1;" : "=r"(of_halves) : "r"(word));
#if __CUDA_ARCH__ >= 900
  asm("tanh.approx.bf16x2 %0, %1;" : "=r"(of_brains) : "r"(word));
#else
  float low = as<float>(word << 16), high = as<float>(word & 0xffff0000);
  asm("tanh.approx.f32 %0, %0;" : "+f"(low));
  asm("tanh.approx.f32 %0, %0;" : "+f"(high));
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(of_brains) : "f"(high), "f"(low));
#endif
  out[t] = of_halves + 3 * of_brains;
}

// A complex product: the imaginary part of b is negated in one half only.
extern "C" __global__ void complex_numbers(unsigned *out, const unsigned *in) {
  int t = THREAD;
  __half2 a = as<__half2>(WORD(t) & 0xbfffbfff), b = as<__half2>(WORD(t ^ 1) & 0xbfffbfff),
          c = as<__half2>(WORD(t ^ 3) & 0xbfffbfff);
  out[t] = as<unsigned>(__hcmadd(a, b, c));
}

// The reciprocal of a number begins with its high word.
extern "C" __global__ void quotients(unsigned *out, const unsigned *in) {
  int t = THREAD;
  double a = (int)WORD(t) * 0.75;
  unsigned long long sum = as<unsigned long long>(a / 100.) + 3 * as<unsigned long long>(a / 0.3);
  out[t] = (unsigned)(sum ^ sum >> 32);
}

// By the block and a number of the launch: a table of places behind a uniform register.
extern "C" __global__ void blocks_apart(unsigned *out, const unsigned *in) {
  unsigned t = THREAD, value = in[t], sum;
  asm volatile("{ .reg .u32 r;\n\t"
               "mov.u32 r, %%ctaid.x;\n\t"
               "add.u32 r, r, 1;\n\t"
               "places: .branchtargets first, second, third, fourth;\n\t"
               "brx.idx.uni r, places;\n\t"
               "first: mov.u32 %0, 1; bra.uni behind;\n\t"
               "second: mad.lo.u32 %0, %1, 3, 5; bra.uni behind;\n\t"
               "third: xor.b32 %0, %1, 1234; bra.uni behind;\n\t"
               "fourth: brev.b32 %0, %1;\n\t"
               "behind: }"
               : "=r"(sum)
               : "r"(value));
  out[t] = sum;
}

// Several floats at a time, on sm_90: each of them is added on its own.
extern "C" __global__ void floats_added(float *out, const unsigned *in) {
  unsigned t = THREAD;
  float *group = out + t / 4 * 4, value = in[t] & 255;
#if __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(group), "f"(value), "f"(value * 2), "f"(value * 3), "f"(value * 4)
               : "memory");
#else
  for (int i = 0; i < 4; i++)
    atomicAdd(group + i, value * (i + 1));
#endif
}

extern "C" __global__ void floats_fetched(float *out, const unsigned *in) {
  unsigned t = THREAD;
  float *pair = out + t, low = in[t] & 255, high = in[t ^ 1] & 255, x = 0, y = 0;
  if (t % 2)
    return;
  for (int i = 0; i < 3; i++) {
#if __CUDA_ARCH__ >= 900
    asm volatile("atom.global.add.v2.f32 {%0, %1}, [%2 + 0], {%3, %4};"
                 : "=f"(x), "=f"(y)
                 : "l"(pair), "f"(low + x), "f"(high + y)
                 : "memory");
#else
    x = atomicAdd(pair, low + x);
    y = atomicAdd(pair + 1, high + y);
#endif
  }
}
