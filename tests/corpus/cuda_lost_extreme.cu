// Words that get the greatest or the smallest of what several threads have, or a product of it, by a load and a store: what another thread has stored
// between the two is lost, and stays so. And their right twins: an atomic operation, a lock, a fixpoint whose threads look again until nothing changes.
// PTX: traces/make_ptx.sh cuda_lost_extreme.cu
#include <cuda/atomic>

using cuda::memory_order_relaxed;
using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;

static __device__ int value_of(int thread, int round) { return (thread * 5 + round * 7) % 16; }

extern "C" __global__ void greatest(volatile int *word, int rounds) {
  for (int i = 0; i < rounds; i++) {
    int value = value_of(blockIdx.x, i);
    if (word[0] < value)
      word[0] = value;
  }
}
extern "C" __global__ void greatest_atomic(int *word, int rounds) {
  for (int i = 0; i < rounds; i++) {
    int value = value_of(blockIdx.x, i);
    if (*(volatile int *)word < value)
      atomicMax(word, value);
  }
}
extern "C" __global__ void greatest_under_lock(int *lock, volatile int *word, int rounds) {
  for (int i = 0; i < rounds; i++) {
    int value = value_of(blockIdx.x, i);
    while (atomicCAS(lock, 0, 1) != 0)
      ;
    __threadfence();
    if (word[0] < value)
      word[0] = value;
    __threadfence();
    atomicExch(lock, 0);
  }
}
extern "C" __global__ void last_block(volatile unsigned *word) {
  unsigned me = blockIdx.x;
  if (me > word[0])
    word[0] = me;
}
// In two launches at once.
extern "C" __global__ void raise(volatile int *word, int value) {
  if (word[0] < value)
    word[0] = value;
}
// By an operation, which stores also where the word was less.
extern "C" __global__ void smallest(int *words, int rounds) {
  Word word(*words);
  for (int i = 0; i < rounds; i++)
    word.store(min(word.load(memory_order_relaxed), -value_of(blockIdx.x, i)), memory_order_relaxed);
}
extern "C" __global__ void greatest_float(volatile double *word, int rounds) {
  for (int i = 0; i < rounds; i++) {
    double value = 0.5 * value_of(blockIdx.x, i);
    if (word[0] < value)
      word[0] = value;
  }
}
extern "C" __global__ void greatest_in_block(int *out) {
  __shared__ volatile int most;
  if (threadIdx.x == 0)
    most = 0;
  __syncthreads();
  int value = threadIdx.x / 32 + 1;
  if (threadIdx.x % 32 == 0 && most < value)
    most = value;
  __syncthreads();
  if (threadIdx.x == 0)
    out[0] = most;
}
extern "C" __global__ void product(volatile int *word, int rounds) {
  for (int i = 0; i < rounds; i++)
    word[0] *= 3;
}
// Each thread raises what its neighbours on both sides have; two may do so together, and the smaller one stays. All look again until nothing changes.
extern "C" __global__ void fixpoint(int *out) {
  __shared__ volatile int label[256], changed;
  int me = threadIdx.x, most = blockDim.x - 1;
  label[me] = me * 7 % blockDim.x;
  bool again = true;
  while (again) {
    __syncthreads();
    if (me == 0)
      changed = 0;
    __syncthreads();
    int mine = label[me];
    __syncwarp();
    int left = max(me - 32, 0), right = min(me + 32, most);
    if (label[left] < mine) {
      label[left] = mine;
      changed = 1;
    }
    __syncwarp();
    if (label[right] < mine) {
      label[right] = mine;
      changed = 1;
    }
    __syncthreads();
    again = changed != 0;
  }
  out[me] = label[me];
}
