// Barriers: whole, counted, split, with a reduction, by warp, and cooperative groups' own.
#include <cooperative_groups.h>
extern "C" __global__ void barriers(int *p) {
  __syncthreads();
  p[0] = __syncthreads_count(p[1] > 2);
  p[2] = __syncthreads_and(p[1] > 3);
  p[3] = __syncthreads_or(p[1] > 4);
  __syncwarp();
  if (threadIdx.x < 64)
    asm volatile("bar.sync 1, 64;" ::: "memory");
  if (threadIdx.x < 32)
    asm volatile("bar.arrive 2, 64;" ::: "memory");
  else
    asm volatile("barrier.sync 2, %0;" ::"r"(64) : "memory");
  asm volatile("barrier.cta.sync.aligned 3;" ::: "memory");
  asm volatile("barrier.arrive 4, 96;" ::: "memory");
  cooperative_groups::this_thread_block().sync();
}
