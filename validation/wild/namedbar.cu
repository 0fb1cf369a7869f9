// arch: sm_90
// Producer and consumer halves of a block: bar.arrive and bar.sync on named barriers, two buffers in shared memory.
#include "util.cuh"
__device__ __forceinline__ void sync(int id, int n) { asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(n) : "memory"); }
__device__ __forceinline__ void arrive(int id, int n) { asm volatile("bar.arrive %0, %1;" :: "r"(id), "r"(n) : "memory"); }
__global__ void namedbar(const u32 *in, int steps, u32 *out) {
  __shared__ u32 data[2][512];
  int half = blockDim.x / 2, n = blockDim.x;
  u32 t = threadIdx.x;
  if (t < half) {
    for (int i = 0; i < steps; i++) {
      int b = i & 1;
      if (i >= 2) sync(3 + b, n); // empty
      data[b][t] = in[(blockIdx.x * half + t + i * 31) & 4095] + i;
      __threadfence_block();
      arrive(1 + b, n);           // full
    }
  } else {
    u32 sum = 0;
    t -= half;
    for (int i = 0; i < steps; i++) {
      int b = i & 1;
      sync(1 + b, n);
      sum += data[b][half - 1 - t];
      if (i + 2 < steps) arrive(3 + b, n);
    }
    atomicAdd(out, sum);
  }
}
template <int B> __device__ __forceinline__ void give(u32 (*data)[512], const u32 *in, u32 t, int half, int n, int i) {
  if (i >= 2) sync(3 + B, n);
  data[B][t] = in[(blockIdx.x * half + t + i * 31) & 4095] + i;
  arrive(1 + B, n);
}
template <int B> __device__ __forceinline__ void take(u32 (*data)[512], u32 t, int half, int n, int i, int steps, u32 &sum) {
  sync(1 + B, n);
  sum += data[B][half - 1 - t];
  if (i + 2 < steps) arrive(3 + B, n);
}
// The same with constant numbers of barriers; `steps` is even.
__global__ void namedbar_constant(const u32 *in, int steps, u32 *out) {
  __shared__ u32 data[2][512];
  int half = blockDim.x / 2, n = blockDim.x;
  u32 t = threadIdx.x;
  if (t < half)
    for (int i = 0; i < steps; i += 2) { give<0>(data, in, t, half, n, i); give<1>(data, in, t, half, n, i + 1); }
  else {
    u32 sum = 0;
    t -= half;
    for (int i = 0; i < steps; i += 2) { take<0>(data, t, half, n, i, steps, sum); take<1>(data, t, half, n, i + 1, steps, sum); }
    atomicAdd(out, sum);
  }
}
