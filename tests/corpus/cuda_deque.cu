// The deque of Chase and Lev: its owner puts and takes at one end, thieves take at the other. Who has taken an item
// counts that plainly, as nobody else may have it. PTX: traces/make_ptx.sh cuda_deque.cu
#include <cuda/atomic>

using cuda::memory_order_acquire;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;
using cuda::memory_order_seq_cst;
using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;
enum { PLACES = 32 };
struct Deque {
  int top, bottom, closed, item[PLACES];
};

static __device__ void fence(cuda::memory_order order) { cuda::atomic_thread_fence(order, cuda::thread_scope_device); }

static __device__ void push(Deque *deque, int item) {
  Word bottom(deque->bottom);
  int place = bottom.load(memory_order_relaxed);
  Word(deque->item[place % PLACES]).store(item, memory_order_relaxed);
  fence(memory_order_release);
  bottom.store(place + 1, memory_order_relaxed);
}

// An item of its own end, or 0.
template <bool FENCE> static __device__ int pop(Deque *deque) {
  Word top(deque->top), bottom(deque->bottom);
  int place = bottom.load(memory_order_relaxed) - 1, item = 0;
  bottom.store(place, memory_order_relaxed);
  if (FENCE)
    fence(memory_order_seq_cst);
  int first = top.load(memory_order_relaxed);
  if (first <= place)
    item = Word(deque->item[place % PLACES]).load(memory_order_relaxed);
  if (first < place)
    return item;
  if (first == place && !top.compare_exchange_strong(first, first + 1, memory_order_seq_cst, memory_order_relaxed))
    item = 0;
  bottom.store(place + 1, memory_order_relaxed);
  return item;
}

static __device__ int steal(Deque *deque) {
  Word top(deque->top);
  int first = top.load(memory_order_acquire);
  fence(memory_order_seq_cst);
  if (first >= Word(deque->bottom).load(memory_order_acquire))
    return 0;
  int item = Word(deque->item[first % PLACES]).load(memory_order_relaxed);
  return top.compare_exchange_strong(first, first + 1, memory_order_seq_cst, memory_order_relaxed) ? item : 0;
}

template <bool FENCE> static __device__ void work(Deque *deque, int *times, int items) {
  Word closed(deque->closed);
  if (blockIdx.x == 0) {
    for (int i = 1; i <= items; i++) {
      push(deque, i);
      if (i % 3 == 0)
        if (int item = pop<FENCE>(deque))
          times[item]++;
    }
    closed.store(1, memory_order_release);
    return;
  }
  for (bool last = false; !last;) {
    last = closed.load(memory_order_acquire);
    while (int item = steal(deque))
      times[item]++;
  }
}

extern "C" __global__ void deque(Deque *deque, int *times, int items) { work<true>(deque, times, items); }
// The look at the other end may come before the own end has moved.
extern "C" __global__ void deque_unfenced(Deque *deque, int *times, int items) { work<false>(deque, times, items); }
