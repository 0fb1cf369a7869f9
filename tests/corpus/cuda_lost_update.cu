// Words that several threads change by a load and a store, both volatile or relaxed: what another thread has stored between the two is lost. And
// their right twins: an atomic operation, a lock, a word of its own, threads that all store the same, who advances an epoch beside helpers.
// PTX: traces/make_ptx.sh cuda_lost_update.cu
#include <cuda/atomic>

using cuda::memory_order_relaxed;
using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;

extern "C" __global__ void count(volatile int *counter, int rounds) {
  for (int i = 0; i < rounds; i++)
    counter[0]++;
}
extern "C" __global__ void count_relaxed(int *counter, int rounds) {
  Word word(*counter);
  for (int i = 0; i < rounds; i++)
    word.store(word.load(memory_order_relaxed) + 1, memory_order_relaxed);
}
extern "C" __global__ void count_atomically(int *counter, int rounds) {
  Word word(*counter);
  for (int i = 0; i < rounds; i++)
    word.fetch_add(1, memory_order_relaxed);
}
extern "C" __global__ void count_under_lock(int *lock, volatile int *counter, int rounds) {
  for (int i = 0; i < rounds; i++) {
    while (atomicCAS(lock, 0, 1) != 0)
      ;
    __threadfence();
    counter[0]++;
    __threadfence();
    atomicExch(lock, 0);
  }
}
extern "C" __global__ void count_apart(volatile int *counter, int rounds) {
  for (int i = 0; i < rounds; i++)
    counter[blockIdx.x]++;
}
extern "C" __global__ void sum_up(volatile double *sum, int rounds) {
  for (int i = 1; i <= rounds; i++)
    sum[0] += 0.5 * i;
}
// Beside threads that count atomically.
extern "C" __global__ void one_plainly(volatile int *counter, int rounds) {
  for (int i = 0; i < rounds; i++)
    if (blockIdx.x == 0)
      counter[0] = counter[0] + 1;
    else
      atomicAdd((int *)counter, 1);
}

extern "C" __global__ void set_bit(volatile int *bits, int threads) { bits[0] |= 1 << blockIdx.x % threads; }

extern "C" __global__ void in_shared(int *out) {
  __shared__ volatile int counter;
  if (threadIdx.x == 0)
    counter = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    counter++;
  __syncthreads();
  if (threadIdx.x == 0)
    out[0] = counter;
}

// All threads of the block have seen the number before any of them raises it, and all store the same.
extern "C" __global__ void all_alike(volatile int *number, int rounds) {
  for (int i = 0; i < rounds; i++) {
    int seen = number[0];
    __syncthreads();
    number[0] = seen + 1;
    __syncthreads();
  }
}
// Whoever finds that all have come to the epoch opens the next one; several may do so together.
extern "C" __global__ void next_epoch(volatile int *epoch, volatile int *come, int epochs) {
  for (int mine = 0; mine < epochs;) {
    mine = epoch[0];
    come[blockIdx.x] = mine;
    __threadfence();
    bool all = true;
    for (int i = 0; i < gridDim.x; i++)
      all = all && come[i] == mine;
    if (all)
      epoch[0] = mine + 1;
  }
}
