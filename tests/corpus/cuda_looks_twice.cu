// A stack whose head has a count beside the node, so that a compare-and-swap of an old head fails. Who takes a node looks at the head once more
// before it reads which node comes next, as under hazard pointers: that vouches for nothing that was read in the round before, though the
// compiler puts the next round's first look there. Who peeks reads a value between two looks. PTX: traces/make_ptx.sh cuda_looks_twice.cu
#include <cuda/atomic>

using cuda::memory_order_acquire;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;
using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;

static __device__ int node_of(int head) { return head % 256; }
static __device__ int behind(int head, int node) { return head - node_of(head) + 256 + node; }

static __device__ int take(Word head, int *next) {
  while (true) {
    int seen = head.load(memory_order_acquire);
    if (node_of(seen) == 0)
      return 0;
    if (head.load(memory_order_acquire) != seen)
      continue;
    int after = Word(next[node_of(seen)]).load(memory_order_relaxed);
    int now = seen;
    if (head.compare_exchange_strong(now, behind(seen, after), memory_order_acquire, memory_order_relaxed))
      return node_of(seen);
  }
}
static __device__ void give(Word head, int *next, int node) {
  int seen = head.load(memory_order_relaxed);
  do
    Word(next[node]).store(node_of(seen), memory_order_relaxed);
  while (!head.compare_exchange_weak(seen, behind(seen, node), memory_order_release, memory_order_relaxed));
}
static __device__ int peek(Word head, int *value) {
  while (true) {
    int seen = head.load(memory_order_acquire), found = Word(value[node_of(seen)]).load(memory_order_relaxed);
    if (head.load(memory_order_relaxed) == seen)
      return found;
  }
}

extern "C" __global__ void looks_twice(int *first, int *next, int *value, int *taken, int *seen, int rounds, int peeks) {
  Word head(*first);
  for (int i = 0; i < rounds; i++) {
    int node = take(head, next);
    if (node == 0)
      continue;
    atomicAdd(taken, 1);
    Word(value[node]).store(i, memory_order_relaxed);
    give(head, next, node);
    if (peeks)
      atomicAdd(seen, peek(head, value) >= 0);
  }
}
