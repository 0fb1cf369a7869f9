// Sum of an array: each block's sum, a fence, a counter; the last block adds the sums up. Several rounds a launch.
#include "util.cuh"
__device__ u32 block_sum(u32 v, u32 *part) {
  for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  u32 s = 0;
  if (threadIdx.x < 32) {
    s = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
    for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
  }
  __syncthreads();
  return s;
}
__global__ void lastblock(const u32 *in, u32 n, u32 *sums, u32 *count, u32 *result) {
  __shared__ u32 part[32];
  __shared__ bool last;
  u32 v = 0;
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += in[i];
  u32 s = block_sum(v, part);
  if (threadIdx.x == 0) {
    ((volatile u32 *)sums)[blockIdx.x] = s;
    __threadfence();
    last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last) {
    v = 0;
    for (u32 i = threadIdx.x; i < gridDim.x; i += blockDim.x) v += ((volatile u32 *)sums)[i];
    s = block_sum(v, part);
    if (threadIdx.x == 0) *result = s;
  }
}
