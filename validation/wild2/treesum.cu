// Sums over all threads: within a warp by shuffles, within a block in shared memory, then up a tree of blocks: who is the last of `fan` at a node adds up
// what they left there, and goes on. `rounds` sums one behind the other, each in a tree of its own.
#include "../wild/util.cuh"
__device__ __forceinline__ u32 block_sum(u32 v) {
  __shared__ u32 part[32];
  for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
  }
  __syncthreads();
  return v;
}
__global__ void treesum(const u32 *in, volatile u32 *values, u32 *counts, u32 fan, int rounds, u32 *out) {
  for (int r = 0; r < rounds; r++) {
    u32 sum = block_sum(in[(r * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x]);
    if (threadIdx.x == 0) {
      volatile u32 *level = values + r * 3 * gridDim.x;
      u32 *count = counts + r * 3 * gridDim.x, at = blockIdx.x, width = gridDim.x;
      for (;;) {
        if (width == 1) { out[r] = sum; break; }
        level[at] = sum;
        __threadfence();
        u32 node = at / fan, of = min(fan, width - node * fan);
        if (atomicAdd(&count[node], 1) + 1 != of) break;
        __threadfence();
        sum = 0;
        for (u32 c = 0; c < of; c++) sum += level[node * fan + c];
        level += width;
        width = (width + fan - 1) / fan;
        count += width;
        at = node;
      }
    }
  }
}
__global__ void onesum(const u32 *in, int rounds, u32 *out) {
  for (int r = 0; r < rounds; r++) {
    u32 sum = block_sum(in[(r * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x]);
    if (threadIdx.x == 0) atomicAdd(&out[r], sum);
  }
}
