/* bodies.h - what each thread of the kernels in kernels.cu computes, in the common part of C and CUDA: nvcc makes PTX
 * of it, and the C compiler the reference that tests/unit/test_kernels.c compares with.
 * Signed arithmetic is done unsigned and converted; shifts stay below the width; NaNs compare as equal. */
#ifndef LOCKSTEP_TESTS_KERNELS_BODIES_H
#define LOCKSTEP_TESTS_KERNELS_BODIES_H

#ifdef __CUDACC__
#define BODY __device__ static __forceinline__
#define CALLED __device__ static __noinline__
#define FMA32(a, b, c) __fmaf_rn(a, b, c)
#define FMA64(a, b, c) __fma_rn(a, b, c)
#else
#include <math.h>
#define BODY static inline __attribute__((unused))
#define CALLED static __attribute__((unused))
#define FMA32(a, b, c) fmaf(a, b, c)
#define FMA64(a, b, c) fma(a, b, c)
#endif

typedef unsigned char u8;
typedef signed char s8;
typedef unsigned short u16;
typedef short s16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;
typedef float f32;
typedef double f64;

/* -- what the random expressions use -- */

#define LEAST_MOST(T)                                                                   \
  BODY T least_##T(T a, T b) { return a < b ? a : b; }                                  \
  BODY T most_##T(T a, T b) { return a > b ? a : b; }                                   \
  BODY T from_f32_##T(f32 x) { return x > -1000.0f && x < 1000.0f ? (T)(s32)x : (T)0; } \
  BODY T from_f64_##T(f64 x) { return x > -1000.0 && x < 1000.0 ? (T)(s32)x : (T)0; }
LEAST_MOST(u8)
LEAST_MOST(s8)
LEAST_MOST(u16)
LEAST_MOST(s16)
LEAST_MOST(u32)
LEAST_MOST(s32)
LEAST_MOST(u64)
LEAST_MOST(s64)
#undef LEAST_MOST

BODY u32 rotate_u32(u32 x, u32 by) { return (x << (by & 31)) | (x >> ((32 - (by & 31)) & 31)); }
BODY u64 rotate_u64(u64 x, u32 by) { return (x << (by & 63)) | (x >> ((64 - (by & 63)) & 63)); }
BODY u32 high_u32(u32 a, u32 b) { return (u32)(((u64)a * b) >> 32); }
BODY f32 fused_f32(f32 a, f32 b, f32 c) { return FMA32(a, b, c); }
BODY f64 fused_f64(f64 a, f64 b, f64 c) { return FMA64(a, b, c); }

#include "expressions.h"

/* -- loops, calls, local arrays -- */

BODY u32 mix(u32 x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

/* Steps until the Collatz sequence of n reaches 1: 64-bit arithmetic, a divergent loop. */
BODY u32 collatz(u64 n) {
  u32 steps = 0;
  while (n != 1) {
    n = n & 1 ? 3 * n + 1 : n >> 1;
    steps++;
  }
  return steps;
}

/* Iterations of z = z*z + c until |z| > 2: f32 without contraction. */
BODY u32 mandelbrot(u32 x, u32 y) {
  f32 cr = (f32)x * 0.046875f - 2.0f, ci = (f32)y * 0.0625f - 1.0f, zr = 0, zi = 0;
  u32 n = 0;
  while (n < 200 && zr * zr + zi * zi <= 4.0f) {
    f32 t = zr * zr - zi * zi + cr;
    zi = 2.0f * zr * zi + ci;
    zr = t;
    n++;
  }
  return n;
}

/* Sorts 16 words made of the seed in a local array and folds them by rank. */
BODY u32 sort_local(u32 seed) {
  u32 a[16], sum = 0;
  for (u32 i = 0; i < 16; i++)
    a[i] = mix(seed * 16 + i) % 1000;
  for (u32 i = 1; i < 16; i++) {
    u32 v = a[i], j = i;
    while (j > 0 && a[j - 1] > v) {
      a[j] = a[j - 1];
      j--;
    }
    a[j] = v;
  }
  for (u32 i = 0; i < 16; i++)
    sum = sum * 31 + a[i];
  return sum;
}

CALLED u32 gcd(u32 a, u32 b) {
  while (b) {
    u32 t = a % b;
    a = b;
    b = t;
  }
  return a;
}

CALLED f64 horner(f64 x, s32 degree) {
  f64 sum = 0;
  for (s32 i = degree; i >= 0; i--)
    sum = sum * x + (f64)(i % 3 - 1);
  return sum;
}

/* Many cases, some of which call. */
BODY u32 dispatch(u32 op, u32 a, u32 b) {
  switch (op) {
  case 0: return a + b;
  case 1: return a - b;
  case 2: return a * b;
  case 3: return gcd(a, b | 1);
  case 4: return a & b;
  case 5: return a | b;
  case 6: return rotate_u32(a, b);
  case 7: return gcd(b, a | 1) + 1;
  case 8: return a / (b | 1);
  case 9: return a % (b | 1);
  case 10: return collatz((a & 1023) + 1);
  default: return mix(a ^ b);
  }
}

/* A by-value struct with every kind of member. */
typedef struct Mixed {
  u8 byte;
  s16 half;
  u32 word;
  u64 wide;
  f32 single;
  f64 twice;
  s32 list[5];
} Mixed;

BODY f64 fold_struct(const Mixed *m, u32 tid) {
  s64 sum = (s64)m->byte + m->half + (s64)m->word + (s64)(m->wide >> 7);
  sum += m->list[tid % 5];
  return (f64)sum + (f64)m->single * 0.5 + m->twice * (f64)tid;
}

/* CRC-32 of four bytes with a table of 16. */
BODY u32 crc(const u32 *table, u32 word) {
  u32 value = 0xffffffffu;
  for (u32 i = 0; i < 8; i++)
    value = (value >> 4) ^ table[(value ^ (word >> (4 * i))) & 15];
  return ~value;
}

#endif
