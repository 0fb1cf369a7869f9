// kernels.cu - kernels whose results a CPU reference checks (tests/unit/test_kernels.c).
// The .ptx beside it: nvcc -ptx -fmad=false -arch=sm_75 -o kernels_75.ptx kernels.cu (and sm_90 for kernels_90.ptx).
#include "bodies.h"

#define KERNEL extern "C" __global__ void
#define SELF (blockIdx.x * blockDim.x + threadIdx.x)

#define X(i, T)                                                             \
  KERNEL expression_kernel_##i(T *out, const u64 *in) {                     \
    u32 t = SELF;                                                           \
    out[t] = expression_##i(in[4 * t], in[4 * t + 1], in[4 * t + 2], in[4 * t + 3], t); \
  }
EXPRESSIONS(X)
#undef X

KERNEL collatz_kernel(u32 *out) { out[SELF] = collatz(SELF + 1); }
KERNEL mandelbrot_kernel(u32 *out) {
  u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[y * gridDim.x * blockDim.x + x] = mandelbrot(x, y);
}
KERNEL sort_local_kernel(u32 *out, u32 seed) { out[SELF] = sort_local(seed + SELF); }
KERNEL dispatch_kernel(u32 *out, const u32 *in) { out[SELF] = dispatch(in[SELF] % 12, in[SELF], mix(in[SELF])); }
KERNEL horner_kernel(f64 *out, f64 x, s8 degree) { out[SELF] = horner(x * SELF, degree); }
KERNEL struct_kernel(f64 *out, Mixed m, u16 add) { out[SELF] = fold_struct(&m, SELF + add); }

__constant__ u32 crc_table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                  0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
KERNEL crc_kernel(u32 *out, const u32 *in) { out[SELF] = crc(crc_table, in[SELF]); }

// Addresses in initialisers, bytes, a table of pointers.
__device__ char text_one[] = "one";
__device__ char text_two[] = "three";
__device__ char *texts[3] = {text_two, text_one, text_two + 2};
__device__ u64 lengths[4];
KERNEL text_kernel(u8 *out) {
  const char *text = texts[SELF % 3];
  u32 n = 0;
  while (text[n])
    n++;
  out[SELF] = (u8)(text[SELF % n] + n);
  if (SELF < 3)
    lengths[SELF] = n;
}

// Vector accesses.
KERNEL vector_kernel(uint4 *out, const uint4 *in, const float2 *pairs, const uchar4 *bytes, ushort2 *halves) {
  uint4 v = in[SELF];
  float2 p = pairs[SELF];
  uchar4 b = bytes[SELF];
  v.x += (u32)p.x;
  v.w ^= (u32)p.y;
  v.y += b.x * 256u + b.w;
  v.z -= b.y + b.z;
  out[SELF] = make_uint4(v.w, v.z, v.y, v.x);
  halves[SELF] = make_ushort2((u16)(v.x >> 3), (u16)v.w);
}

// Bit instructions.
KERNEL bits_kernel(u32 *out, const u32 *in) {
  u32 x = in[SELF], y = mix(x);
  u64 w = (u64)y << 32 | x;
  u32 *o = out + 12 * SELF;
  o[0] = __popc(x);
  o[1] = __clz(x);
  o[2] = __brev(x);
  o[3] = __ffs(x);
  o[4] = __byte_perm(x, y, 0x5273);
  o[5] = __umulhi(x, y);
  o[6] = (u32)__mulhi((s32)x, (s32)y);
  o[7] = __popcll(w) + 100 * __clzll(w);
  o[8] = (u32)(__umul64hi(w, w) >> 5);
  o[9] = __funnelshift_l(x, y, x & 31);
  o[10] = __funnelshift_r(x, y, y);
  o[11] = __sad((s32)x, (s32)y, 7) + __mul24(x, y) + (u32)(__brevll(w) >> 17);
}

// Carries: 128-bit sums.
KERNEL carry_kernel(u64 *out, const u64 *in) {
  u64 a = in[2 * SELF], b = in[2 * SELF + 1], low, high;
  asm("add.cc.u64 %0, %2, %3;\n\taddc.u64 %1, 0, 0;" : "=&l"(low), "=&l"(high) : "l"(a), "l"(b));
  u32 d0, d1;
  asm("sub.cc.u32 %0, %2, %4;\n\tsubc.u32 %1, %3, %5;" : "=&r"(d0), "=&r"(d1)
      : "r"((u32)a), "r"((u32)(a >> 32)), "r"((u32)b), "r"((u32)(b >> 32)));
  out[3 * SELF] = low;
  out[3 * SELF + 1] = high;
  out[3 * SELF + 2] = (u64)d1 << 32 | d0;
}

// -- threads together --

KERNEL reduce_kernel(u32 *out, const u32 *in) {
  extern __shared__ u32 part[];
  part[threadIdx.x] = in[SELF];
  for (u32 step = blockDim.x / 2; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step)
      part[threadIdx.x] += part[threadIdx.x + step];
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = part[0];
}

KERNEL bitonic_kernel(s32 *data) {
  __shared__ s32 a[256];
  a[threadIdx.x] = data[SELF];
  for (u32 k = 2; k <= 256; k *= 2)
    for (u32 j = k / 2; j > 0; j /= 2) {
      __syncthreads();
      u32 other = threadIdx.x ^ j;
      s32 mine = a[threadIdx.x], its = a[other];
      __syncthreads();
      bool up = (threadIdx.x & k) == 0, low = threadIdx.x < other;
      a[threadIdx.x] = (mine < its) == (up == low) ? mine : its;
    }
  data[SELF] = a[threadIdx.x];
}

// Inclusive prefix sums by shuffles, then over warps.
KERNEL scan_kernel(u32 *data) {
  __shared__ u32 sums[32];
  u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, x = data[SELF];
  for (u32 d = 1; d < 32; d *= 2) {
    u32 below = __shfl_up_sync(0xffffffffu, x, d);
    if (lane >= d)
      x += below;
  }
  if (lane == 31)
    sums[warp] = x;
  __syncthreads();
  if (warp == 0) {
    u32 s = lane < blockDim.x / 32 ? sums[lane] : 0;
    for (u32 d = 1; d < 32; d *= 2) {
      u32 below = __shfl_up_sync(0xffffffffu, s, d);
      if (lane >= d)
        s += below;
    }
    sums[lane] = s;
  }
  __syncthreads();
  data[SELF] = x + (warp ? sums[warp - 1] : 0);
}

// Order doesn't matter to the final values.
KERNEL atomics_kernel(u32 *words, u64 *wides, f32 *single, const u32 *in) {
  __shared__ u32 bins[16];
  __shared__ u64 total;
  if (threadIdx.x < 16)
    bins[threadIdx.x] = 0;
  if (threadIdx.x == 0)
    total = 0;
  __syncthreads();
  u32 x = in[SELF];
  atomicAdd(&bins[x % 16], 1u);
  atomicAdd(&total, (u64)x);
  __syncthreads();
  if (threadIdx.x < 16)
    atomicAdd(&words[threadIdx.x], bins[threadIdx.x]);
  if (threadIdx.x == 0)
    atomicAdd(&wides[0], total);
  atomicMin(&words[16], x);
  atomicMax(&words[17], x);
  atomicMin((s32 *)&words[18], (s32)x);
  atomicMax((s32 *)&words[19], (s32)x);
  atomicAnd(&words[20], x | 0xff);
  atomicOr(&words[21], x & 0xff0);
  atomicXor(&words[22], x);
  atomicInc(&words[23], 6);
  atomicDec(&words[24], 6);
  atomicSub(&words[25], x);
  atomicMax(&wides[1], (u64)x * x);
  atomicMin(&wides[2], (u64)x << 9);
  atomicXor(&wides[3], (u64)x << 21);
  atomicAdd(single, (f32)(x % 8));
  u64 old = wides[4], seen;
  do {
    seen = old;
    old = atomicCAS(&wides[4], seen, seen + (x % 5));
  } while (old != seen);
}
