// Two locks of 16 bits in one word: each guards a count of its own, and what one hands on the other doesn't.
// PTX: make_ptx.sh cuda_half_locks.cu

template <bool FENCE> static __device__ void count(unsigned short *locks, int *counts, int wrong) {
  for (int i = 0; i < 4; i++) {
    int which = (blockIdx.x + i) % 2;
    while (atomicCAS(&locks[which], (unsigned short)0, (unsigned short)1) != 0) {
    }
    __threadfence();
    counts[which ^ wrong] += 1;
    if (FENCE)
      __threadfence();
    *(volatile unsigned short *)&locks[which] = 0;
  }
}
extern "C" __global__ void half_locks(unsigned short *locks, int *counts) { count<true>(locks, counts, 0); }
extern "C" __global__ void half_locks_unfenced(unsigned short *locks, int *counts) { count<false>(locks, counts, 0); }
// One block takes the other's lock.
extern "C" __global__ void half_locks_crossed(unsigned short *locks, int *counts) { count<true>(locks, counts, blockIdx.x == 3); }

// One lane of each warp, four locks. ptxas makes a loop around a compare-and-swap of the word of each atomicCAS(), with a plain load before it: that
// may hit an old copy, and the compare-and-swap fails then. What PEEKS loads by itself nobody looks at again.
template <bool PEEKS> static __device__ void count_by_warps(unsigned short *locks, volatile int *counts, int *seen) {
  if (threadIdx.x % 32)
    return;
  int warp = blockIdx.x * blockDim.x / 32 + threadIdx.x / 32;
  for (int i = 0; i < 8; i++) {
    int which = (warp + i * 3) % 4;
    while (atomicCAS(&locks[which], (unsigned short)0, (unsigned short)1) != 0)
      if (PEEKS)
        seen[warp] += locks[which];
    __threadfence();
    counts[which] += 1;
    __threadfence();
    *(volatile unsigned short *)&locks[which] = 0;
  }
}
extern "C" __global__ void half_locks_of_warps(unsigned short *locks, int *counts) { count_by_warps<false>(locks, counts, nullptr); }
extern "C" __global__ void half_locks_peeked(unsigned short *locks, int *counts, int *seen) { count_by_warps<true>(locks, counts, seen); }
