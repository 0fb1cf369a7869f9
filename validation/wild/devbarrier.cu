// cuda::barrier of device scope in global memory: leaders of all blocks meet.
#include <cuda/barrier>
#include "util.cuh"
using barrier = cuda::barrier<cuda::thread_scope_device>;
__global__ void make(barrier *b, int n) { init(b, n); }
__global__ void devbarrier(barrier *b, u32 *cells, int rounds, u32 *bad) {
  u32 wrong = 0;
  for (int r = 1; r <= rounds; r++) {
    if (threadIdx.x == 0) {
      cells[(r & 1) * gridDim.x + blockIdx.x] = r;
      b->arrive_and_wait();
    }
    __syncthreads();
    wrong += cells[(r & 1) * gridDim.x + (blockIdx.x + threadIdx.x) % gridDim.x] != r;
    __syncthreads();
  }
  if (wrong) atomicAdd(bad, wrong);
}
