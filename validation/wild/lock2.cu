// Two levels: a lock in shared memory picks one warp of the block, which then takes the global one. Both test-and-set.
#include "util.cuh"
__global__ void lock2(u32 *global, u32 *data, int each) {
  __shared__ u32 local;
  if (threadIdx.x == 0) local = 0;
  __syncthreads();
  if (threadIdx.x % 32) return;
  cuda::atomic_ref<u32, cuda::thread_scope_block> l(local);
  aref<u32> g(*global);
  for (int i = 0; i < each; i++) {
    while (l.exchange(1, memory_order_acquire)) ;
    while (g.exchange(1, memory_order_acquire)) ;
    data[0] += 1;
    g.store(0, memory_order_release);
    l.store(0, memory_order_release);
  }
}
