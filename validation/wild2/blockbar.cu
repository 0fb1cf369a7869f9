// arch: sm_90
// Barriers of a block: a stencil in shared memory with __syncthreads() or cuda::barrier, one that works between arrival and wait, and one whose warps
// have unequal work.
#include <cuda/barrier>
#include "../wild/util.cuh"
using barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void stencil(const u32 *in, u32 *out, int steps) {
  __shared__ u32 a[2][1024];
  u32 n = blockDim.x, t = threadIdx.x, left = t ? t - 1 : n - 1, right = t + 1 < n ? t + 1 : 0;
  a[0][t] = in[blockIdx.x * n + t];
  __syncthreads();
  for (int s = 0; s < steps; s++) {
    u32 *from = a[s & 1], *to = a[~s & 1];
    to[t] = from[left] + from[t] + from[right];
    __syncthreads();
  }
  out[blockIdx.x * n + t] = a[steps & 1][t];
}
__global__ void stencil_bar(const u32 *in, u32 *out, int steps) {
  __shared__ u32 a[2][1024];
  __shared__ alignas(8) char store[sizeof(barrier)];
  barrier &bar = *(barrier *)store;
  u32 n = blockDim.x, t = threadIdx.x, left = t ? t - 1 : n - 1, right = t + 1 < n ? t + 1 : 0;
  if (t == 0) init(&bar, n);
  a[0][t] = in[blockIdx.x * n + t];
  __syncthreads();
  for (int s = 0; s < steps; s++) {
    u32 *from = a[s & 1], *to = a[~s & 1];
    to[t] = from[left] + from[t] + from[right];
    bar.arrive_and_wait();
  }
  out[blockIdx.x * n + t] = a[steps & 1][t];
}
// Between arrival and wait: `work` steps on a number of its own, other ones in each warp.
__global__ void splitbar(u32 *out, int steps, int work) {
  __shared__ u32 a[2][1024];
  __shared__ alignas(8) char store[sizeof(barrier)];
  barrier &bar = *(barrier *)store;
  u32 n = blockDim.x, t = threadIdx.x, x = t + 1, sum = 0;
  if (t == 0) init(&bar, n);
  __syncthreads();
  for (int s = 0; s < steps; s++) {
    a[s & 1][t] = s;
    auto token = bar.arrive();
    int mine = work * ((t / 32 + s) % 4);
#pragma unroll 1
    for (int w = 0; w < mine; w++) x = x * 5 + 1;
    bar.wait(std::move(token));
    sum += a[s & 1][(t + 37) % n];
  }
  if (x == 12345) out[1] = 1;
  atomicAdd(out, sum);
}
__global__ void unequal(u32 *out, int steps, int work) {
  __shared__ u32 a[1024];
  u32 n = blockDim.x, t = threadIdx.x, x = t, sum = 0;
  for (int s = 0; s < steps; s++) {
    int mine = work * ((t / 32 * 5 + s) % 7);
#pragma unroll 1
    for (int w = 0; w < mine; w++) x = x * 5 + 1;
    a[t] = s;
    __syncthreads();
    sum += a[(t + 33) % n];
    __syncthreads();
  }
  if (x == 12345) out[1] = 1;
  atomicAdd(out, sum);
}
