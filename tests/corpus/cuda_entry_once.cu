// Two threads that enter at most once each: each says so, and goes on if the other hasn't. Only fence.sc between the two,
// in both threads, keeps one of them out.
#include <cuda/atomic>

template <cuda::std::memory_order ORDER> static __device__ void enter_once(int *flags, int *data, int me) {
  cuda::atomic_ref<int, cuda::thread_scope_device> mine(flags[me * 32]), other(flags[(1 - me) * 32]);
  mine.store(1, cuda::std::memory_order_relaxed);
  cuda::atomic_thread_fence(ORDER, cuda::thread_scope_device);
  if (other.load(cuda::std::memory_order_acquire) == 0)
    *data += 1;
}

extern "C" __global__ void once_acq_rel(int *flags, int *data) {
  enter_once<cuda::std::memory_order_acq_rel>(flags, data, blockIdx.x);
}

extern "C" __global__ void once_sc(int *flags, int *data) {
  enter_once<cuda::std::memory_order_seq_cst>(flags, data, blockIdx.x);
}

extern "C" __global__ void once_one_sided(int *flags, int *data) {
  if (blockIdx.x == 0)
    enter_once<cuda::std::memory_order_seq_cst>(flags, data, 0);
  else
    enter_once<cuda::std::memory_order_acq_rel>(flags, data, 1);
}

// What fence.acq_rel does order: what it covers is there for whoever finds the store behind it. And a word of one's own is
// never read as it was before one's own store.
extern "C" __global__ void once_told(int *flags, int *data) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(flags[0]), seen(flags[32]), own(flags[64 + 32 * blockIdx.x]);
  own.store(1, cuda::std::memory_order_relaxed);
  cuda::atomic_thread_fence(cuda::std::memory_order_acq_rel, cuda::thread_scope_device);
  if (own.load(cuda::std::memory_order_relaxed) == 0)
    *data = -1;
  if (blockIdx.x == 0) {
    data[1] = 1;
    seen.store(1, cuda::std::memory_order_relaxed);
    cuda::atomic_thread_fence(cuda::std::memory_order_acq_rel, cuda::thread_scope_device);
    if (ready.load(cuda::std::memory_order_relaxed) == 0)
      ready.store(1, cuda::std::memory_order_relaxed);
  } else {
    while (ready.load(cuda::std::memory_order_relaxed) == 0) {
    }
    cuda::atomic_thread_fence(cuda::std::memory_order_acq_rel, cuda::thread_scope_device);
    data[2] = seen.load(cuda::std::memory_order_relaxed) + data[1];
  }
}
