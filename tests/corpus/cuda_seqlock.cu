// A pair of words under a seqlock: a reader that finds the number odd or changed reads again, so whether it saw both words of one
// round depends on the number alone, not on what it read of the words before.
#include <cuda/atomic>

using cuda::memory_order;
using Number = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;
constexpr memory_order relaxed = cuda::memory_order_relaxed;
constexpr int rounds = 4;

static __device__ void write_pairs(unsigned *number, int *pair, memory_order last) {
  Number n(*number);
  Word first(pair[0]), second(pair[1]);
  for (int i = 1; i <= rounds; i++) {
    n.store(2 * i - 1, relaxed);
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
    first.store(i, relaxed);
    second.store(-i, relaxed);
    n.store(2 * i, last);
  }
}

static __device__ int read_pairs(unsigned *number, int *pair, memory_order order) {
  Number n(*number);
  Word first(pair[0]), second(pair[1]);
  int torn = 0;
  for (int i = 0; i < rounds; i++) {
    unsigned before, after;
    int one, other;
    do {
      before = n.load(order);
      one = first.load(relaxed);
      other = second.load(relaxed);
      cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
      after = n.load(relaxed);
    } while (before != after || before % 2);
    torn += one != -other;
  }
  return torn;
}

extern "C" __global__ void seqlock(unsigned *number, int *pair, int *torn) {
  if (blockIdx.x == 0)
    write_pairs(number, pair, cuda::memory_order_release);
  else
    torn[blockIdx.x] = read_pairs(number, pair, cuda::memory_order_acquire);
}

extern "C" __global__ void seqlock_no_release(unsigned *number, int *pair, int *torn) {
  if (blockIdx.x == 0)
    write_pairs(number, pair, relaxed);
  else
    torn[blockIdx.x] = read_pairs(number, pair, cuda::memory_order_acquire);
}

extern "C" __global__ void seqlock_no_acquire(unsigned *number, int *pair, int *torn) {
  if (blockIdx.x == 0)
    write_pairs(number, pair, cuda::memory_order_release);
  else
    torn[blockIdx.x] = read_pairs(number, pair, relaxed);
}
