// Atomic operations on 16 bits: what ptxas makes of them is a loop around a compare-and-swap of the word, whose first load is a plain one.
// PTX: make_ptx.sh cuda_halves.cu
#include <cuda_fp16.h>

static __device__ void lock(unsigned short *word) {
  while (atomicCAS(word, (unsigned short)0, (unsigned short)1))
    ;
  __threadfence();
}
static __device__ void unlock(unsigned short *word) {
  __threadfence();
  atomicCAS(word, (unsigned short)1, (unsigned short)0);
}

// All threads add to two halves of one word, and by way of shared memory to a third; one of each block counts under a lock, the upper half
// of its word.
static __device__ void count(__half *sums, unsigned short *locks, unsigned *counter, bool locks_it) {
  __shared__ __half of_block;
  if (threadIdx.x == 0)
    of_block = __float2half(0);
  __syncthreads();
  atomicAdd(sums, __float2half(0.5f));
  atomicAdd(sums + 1, __float2half(1));
  atomicAdd(&of_block, __float2half(0.25f));
  __syncthreads();
  if (threadIdx.x)
    return;
  atomicAdd(sums + 2, of_block);
  if (locks_it)
    lock(locks + 1);
  *counter += 1;
  if (locks_it)
    unlock(locks + 1);
}

extern "C" __global__ void halves(__half *sums, unsigned short *locks, unsigned *counter) { count(sums, locks, counter, true); }
extern "C" __global__ void halves_unlocked(__half *sums, unsigned short *locks, unsigned *counter) {
  count(sums, locks, counter, false);
}
// The lock isn't given back: who comes second waits for ever.
extern "C" __global__ void halves_kept(__half *sums, unsigned short *locks, unsigned *counter) { lock(locks); }
