// Labels of a graph's vertices fall to the lowest of their neighbours, round by round and without barriers. A look at a
// label may be old: it isn't lower than the newest, and the next round looks again. Whoever counts on the last labels needs
// an order.
#include <cuda/atomic>

static __device__ __forceinline__ unsigned look(unsigned *word) {
  return cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*word).load(cuda::memory_order_relaxed);
}

static __device__ __forceinline__ void fall(unsigned *label, unsigned vertices, int rounds) {
  unsigned vertex = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < rounds; round++) {
    unsigned lowest = look(&label[vertex]);
    for (unsigned edge = 0; edge < 2; edge++)
      lowest = min(lowest, look(&label[(vertex * 3 + edge * 7 + 1) % vertices]));
    atomicMin(&label[vertex], lowest);
  }
}

extern "C" __global__ void labels(unsigned *label, unsigned vertices, int rounds) { fall(label, vertices, rounds); }

extern "C" __global__ void labels_asked(unsigned *label, unsigned vertices, int rounds, unsigned *through, unsigned *answer) {
  fall(label, vertices, rounds);
  unsigned vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (atomicAdd(through, 1) == vertices - 1)
    *answer = look(&label[vertices - 1 - vertex]);
}
