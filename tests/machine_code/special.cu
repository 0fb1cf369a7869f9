// Instructions that are rare: sums of halves as floats, halves that are at least 0, cache policies, one lane of a warp, several halves at a
// time, numbers of the machine. out[t] of in[t], as tests/unit/test_mc_kernels.c computes it on a CPU.
// Recorded: for sm in 75 80: nvcc -cubin -arch=sm_$sm -o special.sm_$sm.cubin special.cu; sm_90 with -Xptxas -O0
#include <cuda_fp16.h>

extern "C" __global__ void sums_of_halves(int *out, const int *in) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  __half a = __float2half((float)(in[t] & 255));
  out[t] = (int)(2 * __half2float(__hadd(a, __float2half(0.5f)))) + (int)__half2float(a);
}

extern "C" __global__ void positive_halves(int *out, const int *in) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float a = (in[t] & 255) - 100.0f, b = 50.0f - (in[t] & 127);
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(out[t]) : "f"(a), "f"(b));
#else
  __half2 pair = __floats2half2_rn(fmaxf(b, 0), fmaxf(a, 0));
  out[t] = *(int *)&pair;
#endif
}

extern "C" __global__ void policies(int *out, const int *in) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
#if __CUDA_ARCH__ >= 800
  unsigned long long policy;
  int value;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("ld.global.L2::cache_hint.b32 %0, [%1], %2;" : "=r"(value) : "l"(in + t), "l"(policy));
  asm volatile("st.global.L2::cache_hint.b32 [%0], %1, %2;" ::"l"(out + t), "r"(value), "l"(policy) : "memory");
  asm volatile("red.global.add.L2::cache_hint.u32 [%0], %1, %2;" ::"l"(out + t), "r"(3), "l"(policy) : "memory");
#else
  out[t] = in[t] + 3;
#endif
}

extern "C" __global__ void elected(int *out, const int *in) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  out[t] = 0;
  if (lane >= 5) {
#if __CUDA_ARCH__ >= 900
    asm volatile("{ .reg .pred p; elect.sync _|p, %1; selp.b32 %0, 1, 0, p; }" : "=r"(out[t]) : "r"(0xffffffe0));
#else
    out[t] = __ffs(__activemask()) - 1 == lane;
#endif
  }
}

// Eight bytes of halves at a time on sm_90: in[t] is small numbers.
extern "C" __global__ void several_halves(int *out, const int *in) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned number = in[t] & 1 ? 0x3c004000 : 0x40003c00; // 1 and 2, 2 and 1
  if (t % 2)
    return;
#if __CUDA_ARCH__ >= 900
  for (int i = 0; i < 2; i++)
    asm volatile("red.global.add.noftz.v2.f16x2 [%0], {%1, %2};" ::"l"(out + t), "r"(number), "r"(0x3c003c00) : "memory");
#else
  for (int i = 0; i < 2; i++) {
    atomicAdd((__half2 *)out + t, *(__half2 *)&number);
    atomicAdd((__half2 *)out + t + 1, __floats2half2_rn(1, 1));
  }
#endif
}

extern "C" __global__ void machine_numbers(int *out, const int *in) {
  unsigned sms, sm;
  asm("mov.u32 %0, %%nsmid;" : "=r"(sms));
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  out[blockIdx.x * blockDim.x + threadIdx.x] = sm < sms;
}

// Reductions of a warp in a row, of which ptxas waits for a later one only.
extern "C" __global__ void reductions(int *out, const int *in) {
  __shared__ int s[16];
  __shared__ unsigned long long wide[4];
  __shared__ double d[2];
  __shared__ float f[2];
  int t = blockIdx.x * blockDim.x + threadIdx.x, i = threadIdx.x;
  if (i < 16)
    s[i] = i == 4 ? -1 : 0;
  if (i < 4)
    wide[i] = 0;
  if (i < 2) {
    d[i] = 0;
    f[i] = 100;
  }
  __syncthreads();
  atomicAdd(&s[0], i);
  atomicSub(&s[1], 2);
  atomicMax(&s[2], i * 3 % 50);
  atomicMin(&s[3], -i);
  atomicAnd(&s[4], ~(i & 12));
  atomicOr(&s[5], 1 << (i & 15));
  atomicXor(&s[6], i);
  atomicInc((unsigned *)&s[7], 9);
  atomicDec((unsigned *)&s[8], 5);
  atomicExch(&s[9], 77);
  atomicCAS(&s[10], 0, 3);
  atomicAdd(&wide[0], 1ull << 33);
  atomicAdd(&d[0], 0.5);
  atomicAdd(&f[1], 0.25f);
  __syncthreads();
  out[t] = s[0] + 3 * s[1] + 5 * s[2] + 7 * s[3] + 11 * s[4] + 13 * s[5] + 17 * s[6];
}

// Shared memory of the system, which cooperative groups of several warps use.
extern "C" __global__ void system_shared(int *out, const int *in) {
  __shared__ int own[96];
  int t = blockIdx.x * blockDim.x + threadIdx.x, word;
  own[threadIdx.x] = in[t];
#if __CUDA_ARCH__ >= 800
  unsigned first, mine;
  asm("mov.u32 %0, %%reserved_smem_offset_1;" : "=r"(first));
  mine = first + threadIdx.x % 32 * 4;
#else
  __shared__ int first[32];
  unsigned mine = (unsigned)__cvta_generic_to_shared(first + threadIdx.x % 32);
#endif
  if (threadIdx.x < 32)
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(mine), "r"(in[t] + 1) : "memory");
  __syncthreads();
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(mine) : "memory");
  out[t] = own[threadIdx.x ^ 1] + 3 * word;
}

// The index of a parameter is read as an operand is, not as an address.
struct Numbers {
  int number[64];
};
extern "C" __global__ void indexed(Numbers numbers, int *out, int base) { out[threadIdx.x] = numbers.number[base + threadIdx.x]; }
