// Locks in shared memory between the warps of a block, one thread of each (shlock), or between all threads (shlanes).
#include "../wild/util.cuh"
__global__ void shlock(u32 *out, int n, int each, int work) {
  __shared__ int locks[32];
  __shared__ volatile u32 counts[32], words[32];
  u32 t = threadIdx.x;
  if (t < 32) locks[t] = 0, counts[t] = 0, words[t] = t;
  __syncthreads();
  if (t % 32 == 0)
    for (int i = 0; i < each; i++) {
      u32 which = (t / 32 + i) % n;
      while (atomicCAS(&locks[which], 0, 1) != 0) ;
      __threadfence_block();
      u32 x = words[which];
#pragma unroll 1
      for (int w = 0; w < work; w++) x = x * 3 + 1;
      words[which] = x;
      counts[which] = counts[which] + 1;
      __threadfence_block();
      atomicExch(&locks[which], 0);
    }
  __syncthreads();
  if (t < n) atomicAdd(&out[t], counts[t]);
}
__global__ void shlanes(u32 *out, int n, int each) {
  __shared__ int locks[32];
  __shared__ volatile u32 counts[32];
  u32 t = threadIdx.x;
  if (t < 32) locks[t] = 0, counts[t] = 0;
  __syncthreads();
  for (int i = 0; i < each; i++) {
    u32 which = (t + i) % n;
    bool done = false;
    while (!done)
      if (atomicExch(&locks[which], 1) == 0) {
        __threadfence_block();
        counts[which] = counts[which] + 1;
        __threadfence_block();
        atomicExch(&locks[which], 0);
        done = true;
      }
  }
  __syncthreads();
  if (t < n) atomicAdd(&out[t], counts[t]);
}
