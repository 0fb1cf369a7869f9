// A stack whose nodes come back: who takes one says first at which node it looks, and whoever gives a node back waits until nobody looks at it.
// Node 0 is none. PTX: traces/make_ptx.sh cuda_hazard_pointers.cu
#include <cuda/atomic>

using cuda::memory_order_acq_rel;
using cuda::memory_order_acquire;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;
using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;
enum Waits { FOR_OTHERS, FOR_ALL };

static __device__ void fence() { cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device); }

static __device__ int take(Word head, int *next, Word looks) {
  while (true) {
    int node = head.load(memory_order_acquire);
    if (node == 0)
      continue;
    looks.store(node, memory_order_relaxed);
    fence();
    if (head.load(memory_order_acquire) != node)
      continue;
    int after = Word(next[node]).load(memory_order_relaxed);
    if (head.compare_exchange_strong(node, after, memory_order_acq_rel, memory_order_relaxed))
      return node;
  }
}

static __device__ void give(Word head, int *next, int node) {
  int first = head.load(memory_order_relaxed);
  do
    Word(next[node]).store(first, memory_order_relaxed);
  while (!head.compare_exchange_weak(first, node, memory_order_release, memory_order_relaxed));
}

template <Waits waits> static __device__ void turns(int *first, int *next, int *looked_at, int *taken, int rounds) {
  Word head(*first), looks(looked_at[blockIdx.x]);
  for (int i = 0; i < rounds; i++) {
    int node = take(head, next, looks);
    if (waits == FOR_OTHERS)
      looks.store(0, memory_order_release);
    atomicAdd(taken, 1);
    fence();
    for (int other = 0; other < (int)gridDim.x; other++)
      if (waits == FOR_ALL || other != (int)blockIdx.x)
        while (Word(looked_at[other]).load(memory_order_acquire) == node) {
        }
    give(head, next, node);
  }
  looks.store(0, memory_order_release);
}
extern "C" __global__ void hazard_pointers(int *first, int *next, int *looked_at, int *taken, int rounds) {
  turns<FOR_OTHERS>(first, next, looked_at, taken, rounds);
}
extern "C" __global__ void hazard_pointers_kept(int *first, int *next, int *looked_at, int *taken, int rounds) {
  turns<FOR_ALL>(first, next, looked_at, taken, rounds);
}
