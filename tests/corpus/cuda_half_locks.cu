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
