// A reader says that it reads, and looks whether the data are being changed; who changes them says so, waits until nobody reads, and writes.
// Both may find the other's word as it was before, unless both have fence.sc between their store and their load. The reader comes between
// store and wait of the other one only where that is held up.
#include <cuda/atomic>

using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;

template <cuda::memory_order READER> static __device__ void grace(int *closed, int *reads, int *data, int *result) {
  if (blockIdx.x) {
    Word(*reads).store(1, cuda::memory_order_relaxed);
    cuda::atomic_thread_fence(READER, cuda::thread_scope_device);
    if (Word(*closed).load(cuda::memory_order_acquire) == 0)
      *result = *data + 1;
    Word(*reads).store(0, cuda::memory_order_release);
  } else {
    Word(*closed).store(1, cuda::memory_order_relaxed);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    while (Word(*reads).load(cuda::memory_order_acquire))
      ;
    *data = 1;
  }
}
extern "C" __global__ void grace_acq_rel(int *closed, int *reads, int *data, int *result) { grace<cuda::memory_order_acq_rel>(closed, reads, data, result); }
extern "C" __global__ void grace_sc(int *closed, int *reads, int *data, int *result) { grace<cuda::memory_order_seq_cst>(closed, reads, data, result); }
