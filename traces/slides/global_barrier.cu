// Slides, "Global Barrier": all threads of the grid wait for each other; flat and hierarchical, with either
// __syncthreads removed, and repeated.
// Around the barrier each thread does S1 (it leaves a mark) and S2 (is the next block's mark there? `missing` counts
// those that aren't). `slow`: cycles that all warps but the first of an odd block need for S1.
// PTX: make_ptx.sh global_barrier.cu
#include <limits.h>

static __device__ void dawdle(int cycles) {
  for (long long start = clock64(); clock64() - start < cycles;)
    ;
}
static __device__ void s1(volatile int *mark, int round, int slow) {
  if (blockIdx.x % 2 == 1 && threadIdx.x >= 32)
    dawdle(slow);
  mark[blockIdx.x * blockDim.x + threadIdx.x] = round;
}
static __device__ void s2(volatile int *mark, int round, int *missing) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (mark[(id + blockDim.x) % (gridDim.x * blockDim.x)] < round)
    atomicAdd(missing, 1);
}

// Every thread counts itself and waits.
extern "C" __global__ void barrier_flat(unsigned *counter, volatile int *mark, int *missing, int slow) {
  s1(mark, 1, slow);
  __threadfence();
  atomicInc(counter, UINT_MAX);
  volatile unsigned *seen = counter;
  while (*seen != blockDim.x * gridDim.x)
    ;
  __threadfence();
  s2(mark, 1, missing);
}

// __syncthreads in the block, one thread of each block for the grid.
extern "C" __global__ void barrier_hierarchical(unsigned *counter, volatile int *mark, int *missing, int slow) {
  s1(mark, 1, slow);
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicInc(counter, UINT_MAX);
    volatile unsigned *seen = counter;
    while (*seen != gridDim.x)
      ;
    __threadfence();
  }
  __syncthreads();
  s2(mark, 1, missing);
}
// Without the first __syncthreads a block is counted before its slow warps have done S1.
extern "C" __global__ void barrier_no_first(unsigned *counter, volatile int *mark, int *missing, int slow) {
  s1(mark, 1, slow);
  if (threadIdx.x == 0) {
    __threadfence();
    atomicInc(counter, UINT_MAX);
    volatile unsigned *seen = counter;
    while (*seen != gridDim.x)
      ;
    __threadfence();
  }
  __syncthreads();
  s2(mark, 1, missing);
}
// Without the second one the other warps don't wait for the grid.
extern "C" __global__ void barrier_no_second(unsigned *counter, volatile int *mark, int *missing, int slow) {
  s1(mark, 1, slow);
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicInc(counter, UINT_MAX);
    volatile unsigned *seen = counter;
    while (*seen != gridDim.x)
      ;
    __threadfence();
  }
  s2(mark, 1, missing);
}

// Repeated, one counter that only grows. `late`: cycles of an odd block between counting itself and its first look:
// by then a fast block may have counted itself for the next barrier.
extern "C" __global__ void barrier_repeated_one(unsigned *counter, volatile int *mark, int *missing, int rounds,
                                                int late) {
  for (int round = 1; round <= rounds; round++) {
    s1(mark, round, 0);
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicInc(counter, UINT_MAX);
      dawdle(blockIdx.x % 2 * late);
      volatile unsigned *seen = counter;
      while (*seen != round * gridDim.x)
        ;
      __threadfence();
    }
    __syncthreads();
    s2(mark, round, missing);
  }
}
// The same with `<`, which can't miss its number.
extern "C" __global__ void barrier_repeated_less(unsigned *counter, volatile int *mark, int *missing, int rounds,
                                                 int late) {
  for (int round = 1; round <= rounds; round++) {
    s1(mark, round, 0);
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicInc(counter, UINT_MAX);
      dawdle(blockIdx.x % 2 * late);
      volatile unsigned *seen = counter;
      while (*seen < round * gridDim.x)
        ;
      __threadfence();
    }
    __syncthreads();
    s2(mark, round, missing);
  }
}
// Two counters, for odd and even rounds.
extern "C" __global__ void barrier_repeated_two(unsigned *counter, volatile int *mark, int *missing, int rounds,
                                                int late) {
  for (int round = 1; round <= rounds; round++) {
    s1(mark, round, 0);
    __syncthreads();
    if (threadIdx.x == 0) {
      unsigned *mine = counter + round % 2, all = (round + 1) / 2 * gridDim.x;
      __threadfence();
      atomicInc(mine, UINT_MAX);
      dawdle(blockIdx.x % 2 * late);
      volatile unsigned *seen = mine;
      while (*seen != all)
        ;
      __threadfence();
    }
    __syncthreads();
    s2(mark, round, missing);
  }
}
