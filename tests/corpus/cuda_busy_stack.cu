// Two threads take nodes of a stack, each while it says that it is busy. One has its fence before the other one comes, sleeps, and then waits
// until the other one isn't busy: that it isn't may be from before its turn as well. Then it may find the old head, too: the
// compare-and-swap fails, and nothing is lost. A head that is loaded and stored may be lost. PTX: traces/make_ptx.sh cuda_busy_stack.cu
#include <cuda/atomic>

using cuda::memory_order_acquire;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;
using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;
enum Takes { BY_SWAP, BY_STORE };

static __device__ void fence() { cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device); }

template <Takes takes> static __device__ int take(Word head, const int *next) {
  int node = head.load(memory_order_acquire);
  if (takes == BY_STORE)
    head.store(node + 1, memory_order_relaxed);
  while (takes == BY_SWAP && !head.compare_exchange_weak(node, next[node], memory_order_acquire)) {
  }
  return node;
}

template <Takes takes> static __device__ void turn(int *words, const int *next, int *taken) {
  Word head(words[0]), busy(words[1]), ready(words[2]), told(words[3]);
  if (blockIdx.x) {
    while (!ready.load(memory_order_relaxed)) {
    }
    busy.store(1, memory_order_relaxed);
    fence();
    taken[1] = take<takes>(head, next);
    told.store(1, memory_order_relaxed);
    busy.store(0, memory_order_release);
  } else {
    fence();
    ready.store(1, memory_order_relaxed);
    __nanosleep(20000);
    while (busy.load(memory_order_acquire)) {
    }
    while (!told.load(memory_order_relaxed)) {
    }
    taken[0] = take<takes>(head, next);
  }
}
extern "C" __global__ void busy_swap(int *words, const int *next, int *taken) { turn<BY_SWAP>(words, next, taken); }
extern "C" __global__ void busy_store(int *words, const int *next, int *taken) { turn<BY_STORE>(words, next, taken); }
