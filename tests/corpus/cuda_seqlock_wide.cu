// A pair of numbers of 64 bits under a seqlock whose own number has 64 bits, too; readers look until the last round has come.
// PTX: traces/make_ptx.sh cuda_seqlock_wide.cu
#include <cuda/atomic>

using cuda::memory_order_relaxed;
using Wide = unsigned long long;
using Word = cuda::atomic_ref<Wide, cuda::thread_scope_device>;
enum Fences { BOTH, NO_FIRST, NO_SECOND };

template <Fences fences> static __device__ void write_pairs(Wide *number, Wide *pair, Wide rounds) {
  Word n(*number), first(pair[0]), second(pair[1]);
#pragma unroll 1
  for (Wide i = 1; i <= rounds; i++) {
    n.store(2 * i - 1, memory_order_relaxed);
    if (fences != NO_FIRST)
      cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
    first.store(i << 32 | i, memory_order_relaxed);
    second.store(i << 33 | i << 1, memory_order_relaxed);
    n.store(2 * i, cuda::memory_order_release);
  }
}

template <Fences fences> static __device__ int read_pairs(Wide *number, Wide *pair, Wide rounds) {
  Word n(*number), first(pair[0]), second(pair[1]);
  Wide before, one, other;
  int torn = 0;
  do {
    do {
      while ((before = n.load(cuda::memory_order_acquire)) % 2) {
      }
      one = first.load(memory_order_relaxed);
      other = second.load(memory_order_relaxed);
      if (fences != NO_SECOND)
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
    } while (n.load(memory_order_relaxed) != before);
    torn += other != 2 * one;
  } while (before < 2 * rounds);
  return torn;
}

template <Fences fences> static __device__ void pairs(Wide *number, Wide *pair, int *torn, int rounds) {
  if (blockIdx.x == 0)
    write_pairs<fences>(number, pair, rounds);
  else
    torn[blockIdx.x] = read_pairs<fences>(number, pair, rounds);
}
extern "C" __global__ void seqlock_wide(Wide *number, Wide *pair, int *torn, int rounds) {
  pairs<BOTH>(number, pair, torn, rounds);
}
extern "C" __global__ void seqlock_wide_no_first(Wide *number, Wide *pair, int *torn, int rounds) {
  pairs<NO_FIRST>(number, pair, torn, rounds);
}
extern "C" __global__ void seqlock_wide_no_second(Wide *number, Wide *pair, int *torn, int rounds) {
  pairs<NO_SECOND>(number, pair, torn, rounds);
}
