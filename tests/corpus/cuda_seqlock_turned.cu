// Readers of a seqlock whose loop is turned: the second look at the number is the next round's first one. All fences are there but in turned_no_second and
// relaxed_no_second, which look again without one, and in turned_no_change, whose writer has none behind its change of the number.
// PTX: traces/make_ptx.sh cuda_seqlock_turned.cu
#include <cuda/atomic>

using cuda::memory_order_acquire;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;
using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;

static __device__ void fence(cuda::memory_order order) { cuda::atomic_thread_fence(order, cuda::thread_scope_device); }

template <bool second_fence>
__device__ __forceinline__ void turned_by_atomics(int *number, int *pair, int *torn, int rounds) {
  Word n(*number), first(pair[0]), second(pair[1]);
  if (blockIdx.x == 0) {
    for (int i = 1; i <= rounds; i++) {
      int now = n.load(memory_order_relaxed);
      n.store(now + 1, memory_order_relaxed);
      fence(memory_order_release);
      first.store(i, memory_order_relaxed);
      second.store(-i, memory_order_relaxed);
      n.store(now + 2, memory_order_release);
    }
    return;
  }
  for (int i = 0; i < rounds; i++) {
    int one, other, before, after = n.load(memory_order_acquire);
    do {
      before = after;
      one = first.load(memory_order_relaxed);
      other = second.load(memory_order_relaxed);
      if (second_fence)
        fence(memory_order_acquire);
      after = n.load(memory_order_acquire);
    } while (before % 2 || before != after);
    torn[blockIdx.x] += one != -other;
  }
}

extern "C" __global__ void turned_relaxed(int *number, int *pair, int *torn, int rounds) {
  turned_by_atomics<true>(number, pair, torn, rounds);
}

template <bool changed, bool second>
__device__ __forceinline__ void turned(volatile int *number, volatile int *pair, int *torn, int rounds) {
  if (blockIdx.x == 0) {
    for (int i = 1; i <= rounds; i++) {
      number[0] = number[0] + 1;
      if (changed)
        __threadfence();
      pair[0] = i;
      pair[1] = -i;
      __threadfence();
      number[0] = number[0] + 1;
    }
    return;
  }
  for (int i = 0; i < rounds; i++) {
    int one, other, before = number[0];
    while (true) {
      __threadfence();
      one = pair[0];
      other = pair[1];
      if (second)
        __threadfence();
      int after = number[0];
      if (before == after && before % 2 == 0)
        break;
      before = after;
    }
    torn[blockIdx.x] += one != -other;
  }
}

extern "C" __global__ void turned_volatile(volatile int *number, volatile int *pair, int *torn, int rounds) {
  turned<true, true>(number, pair, torn, rounds);
}

extern "C" __global__ void turned_no_second(volatile int *number, volatile int *pair, int *torn, int rounds) {
  turned<true, false>(number, pair, torn, rounds);
}

extern "C" __global__ void turned_no_change(volatile int *number, volatile int *pair, int *torn, int rounds) {
  turned<false, true>(number, pair, torn, rounds);
}

extern "C" __global__ void relaxed_no_second(int *number, int *pair, int *torn, int rounds) {
  turned_by_atomics<false>(number, pair, torn, rounds);
}
