// At most `permits` blocks inside: cuda::counting_semaphore in global memory, made by a first launch.
#include <cuda/semaphore>
#include "util.cuh"
using semaphore = cuda::counting_semaphore<cuda::thread_scope_device, 1000>;
__global__ void make(semaphore *s, int permits) { new (s) semaphore(permits); }
__global__ void sem(semaphore *s, int permits, int each, u32 *inside, u32 *most, u32 *total) {
  if (threadIdx.x) return;
  for (int i = 0; i < each; i++) {
    s->acquire();
    u32 now = atomicAdd(inside, 1) + 1;
    atomicMax(most, now);
    if (now > permits) atomicAdd(most, 1000);
    atomicAdd(total, 1);
    atomicSub(inside, 1);
    s->release();
  }
}
