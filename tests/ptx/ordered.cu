// cuda::atomic_ref's ways to say an order and a scope, through the inline PTX that libcu++ has.
#include <cuda/atomic>

extern "C" __global__ void ordered(int *data, int *flag, int *out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> dev(*flag);
  cuda::atomic_ref<int, cuda::thread_scope_block> block(flag[1]);
  cuda::atomic_ref<int, cuda::thread_scope_system> sys(flag[2]);
  if (threadIdx.x == 0) {
    *data = 42;
    dev.store(1, cuda::memory_order_release);
    block.store(2, cuda::memory_order_relaxed);
    sys.store(3, cuda::memory_order_seq_cst);
  }
  while (dev.load(cuda::memory_order_acquire) == 0) {
  }
  int old = 0;
  dev.compare_exchange_strong(old, 7, cuda::memory_order_acq_rel, cuda::memory_order_relaxed);
  old += dev.fetch_add(1, cuda::memory_order_relaxed) + block.exchange(4) + sys.fetch_max(9, cuda::memory_order_acquire);
  cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_block);
  *out = *data + old;
}
