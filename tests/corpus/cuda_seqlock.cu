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

// The same with one of the two fences in the middle left out: 1, the writer's behind its first number; 2, the reader's before its second
// look; and with orders of the words themselves in place of these fences.
template <int LACKS> static __device__ void write_fenced(unsigned *number, int *pair) {
  Number n(*number);
  Word first(pair[0]), second(pair[1]);
#pragma unroll 1
  for (int i = 1; i <= rounds; i++) {
    n.store(2 * i - 1, relaxed);
    if (LACKS != 1)
      cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
    first.store(i, relaxed);
    second.store(-i, relaxed);
    n.store(2 * i, cuda::memory_order_release);
  }
}

template <int LACKS> static __device__ int read_fenced(unsigned *number, int *pair) {
  Number n(*number);
  Word first(pair[0]), second(pair[1]);
  int torn = 0;
#pragma unroll 1
  for (int i = 0; i < rounds; i++) {
    unsigned before, after;
    int one, other;
    do {
      before = n.load(cuda::memory_order_acquire);
      one = first.load(relaxed);
      other = second.load(relaxed);
      if (LACKS != 2)
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
      after = n.load(relaxed);
    } while (before != after || before % 2);
    torn += one != -other;
  }
  return torn;
}

static __device__ void write_ordered(unsigned *number, int *pair, memory_order words) {
  Number n(*number);
  Word first(pair[0]), second(pair[1]);
#pragma unroll 1
  for (int i = 1; i <= rounds; i++) {
    n.store(2 * i - 1, relaxed);
    first.store(i, words);
    second.store(-i, words);
    n.store(2 * i, cuda::memory_order_release);
  }
}

static __device__ int read_ordered(unsigned *number, int *pair, memory_order last) {
  Number n(*number);
  Word first(pair[0]), second(pair[1]);
  int torn = 0;
#pragma unroll 1
  for (int i = 0; i < rounds; i++) {
    unsigned before, after;
    int one, other;
    do {
      before = n.load(cuda::memory_order_acquire);
      one = first.load(cuda::memory_order_acquire);
      other = second.load(last);
      after = n.load(relaxed);
    } while (before != after || before % 2);
    torn += one != -other;
  }
  return torn;
}

extern "C" __global__ void seqlock_fenced(unsigned *number, int *pair, int *torn) {
  if (blockIdx.x == 0)
    write_fenced<0>(number, pair);
  else
    torn[blockIdx.x] = read_fenced<0>(number, pair);
}
extern "C" __global__ void seqlock_no_first(unsigned *number, int *pair, int *torn) {
  if (blockIdx.x == 0)
    write_fenced<1>(number, pair);
  else
    torn[blockIdx.x] = read_fenced<0>(number, pair);
}
extern "C" __global__ void seqlock_no_second(unsigned *number, int *pair, int *torn) {
  if (blockIdx.x == 0)
    write_fenced<0>(number, pair);
  else
    torn[blockIdx.x] = read_fenced<2>(number, pair);
}
extern "C" __global__ void seqlock_ordered(unsigned *number, int *pair, int *torn) {
  if (blockIdx.x == 0)
    write_ordered(number, pair, cuda::memory_order_release);
  else
    torn[blockIdx.x] = read_ordered(number, pair, cuda::memory_order_acquire);
}
extern "C" __global__ void seqlock_words_relaxed(unsigned *number, int *pair, int *torn) {
  if (blockIdx.x == 0)
    write_ordered(number, pair, relaxed);
  else
    torn[blockIdx.x] = read_ordered(number, pair, cuda::memory_order_acquire);
}
extern "C" __global__ void seqlock_last_relaxed(unsigned *number, int *pair, int *torn) {
  if (blockIdx.x == 0)
    write_ordered(number, pair, cuda::memory_order_release);
  else
    torn[blockIdx.x] = read_ordered(number, pair, relaxed);
}
