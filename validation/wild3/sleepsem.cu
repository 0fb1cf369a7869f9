// Counting semaphores for blocks, as in Stuart and Owens' section 6: waiting by a turn that each thread draws, or spinning on the count; and a pool of buffers
// that a bit map keeps, behind a semaphore.
#include "../wild/util.cuh"
// Waits take numbers, posts count up; number n may go on once there are more than n posts.
__global__ void turnsem(u32 *sem, int initial, u32 *inside, u32 *most, int each, int work) {
  u32 *wait = sem, *post = sem + 32;
  u32 x = threadIdx.x;
  for (int i = 0; i < each; i++) {
    if (threadIdx.x == 0) {
      u32 mine = atomicAdd(wait, 1);
      while ((int)(*(volatile u32 *)post + initial - mine) <= 0) ;
      __threadfence();
      u32 now = atomicAdd(inside, 1) + 1;
      if (now > initial) atomicMax(most, now);
    }
    __syncthreads();
#pragma unroll 1
    for (int w = 0; w < work; w++) x = x * 3 + i;
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicSub(inside, 1);
      __threadfence();
      atomicAdd(post, 1);
    }
  }
  if (x == 77) most[1] = x;
}
__global__ void spinsem(int *sem, u32 *data, int each, int hold) {
  if (threadIdx.x) return;
  u32 x = blockIdx.x;
  for (int i = 0; i < each; i++) {
    for (;;) {
      if (*(volatile int *)sem > 0) {
        if (atomicSub(sem, 1) > 0) break;
        atomicAdd(sem, 1);
      }
      __nanosleep(100);
    }
    __threadfence();
#pragma unroll 1
    for (int w = 0; w < hold; w++) x = x * 3 + i;
    __threadfence();
    atomicAdd(sem, 1);
    atomicAdd(data, 1);
  }
  if (x == 77) data[1] = x;
}
__global__ void pool(int *free_count, u32 *map, u32 *buffers, int words, int each) { // 32 buffers
  __shared__ int which;
  for (int i = 0; i < each; i++) {
    if (threadIdx.x == 0) {
      for (;;) {
        int seen = *(volatile int *)free_count;
        if (seen > 0 && atomicCAS(free_count, seen, seen - 1) == seen) break;
      }
      for (;;) {
        u32 bits = *(volatile u32 *)map;
        if (bits == ~0u) continue;
        int bit = __ffs(~bits) - 1;
        if (!(atomicOr(map, 1u << bit) >> bit & 1)) { which = bit; break; }
      }
      __threadfence();
    }
    __syncthreads();
    u32 *mine = buffers + which * words;
    for (int w = threadIdx.x; w < words; w += blockDim.x) mine[w] += 1;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAnd(map, ~(1u << which));
      __threadfence();
      atomicAdd(free_count, 1);
    }
  }
}
