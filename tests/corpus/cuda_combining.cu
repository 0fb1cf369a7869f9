// Flat combining: who gets the lock serves all requests that it sees. A request that it doesn't see is no harm, since
// its owner tries for the lock itself until it is served.
#include <cuda/atomic>

using Word = cuda::atomic<int, cuda::thread_scope_device>;

template <cuda::std::memory_order UNLOCK>
static __device__ void combine(Word *lock, Word *request, int *amount, int *total, int rounds) {
  int me = blockIdx.x;
  for (int i = 0; i < rounds; i++) {
    amount[me] = me + 1;
    request[me].store(1, cuda::memory_order_release);
    while (request[me].load(cuda::memory_order_acquire) == 1) {
      if (lock->exchange(1, cuda::memory_order_acquire) == 0) {
        for (int other = 0; other < gridDim.x; other++)
          if (request[other].load(cuda::memory_order_acquire) == 1) {
            *total += amount[other];
            request[other].store(0, cuda::memory_order_release);
          }
        lock->store(0, UNLOCK);
      }
    }
  }
}

extern "C" __global__ void combining(Word *lock, Word *request, int *amount, int *total, int rounds) {
  combine<cuda::memory_order_release>(lock, request, amount, total, rounds);
}

extern "C" __global__ void combining_relaxed(Word *lock, Word *request, int *amount, int *total, int rounds) {
  combine<cuda::memory_order_relaxed>(lock, request, amount, total, rounds);
}

// Messages behind a count: the server has seen all arrivals, and looks at each message once. The attempts at the lock
// have nothing to do with that.
extern "C" __global__ void combining_once(Word *lock, Word *request, Word *count, int *total) {
  if (blockIdx.x) {
    request[blockIdx.x].store(blockIdx.x, cuda::memory_order_relaxed);
    count->fetch_add(1, cuda::memory_order_relaxed);
    return;
  }
  while (lock->exchange(1, cuda::memory_order_acquire) != 0) {
  }
  while (count->load(cuda::memory_order_relaxed) != gridDim.x - 1) {
  }
  for (int other = 1; other < gridDim.x; other++)
    *total += request[other].load(cuda::memory_order_relaxed);
  lock->store(0, cuda::memory_order_release);
}
