// arch: sm_90
// Producer warps fill stages in shared memory, consumer warps empty them; cuda::barrier, full and empty for each stage.
#include <cuda/barrier>
#include "util.cuh"
enum { STAGES = 4 };
using barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void mbarpipe(const u32 *in, int tiles, u32 *sum) {
  __shared__ u32 data[STAGES][256];
  __shared__ alignas(8) char store[2 * STAGES * sizeof(barrier)];
  barrier *full = (barrier *)store, *empty = full + STAGES;
  u32 half = blockDim.x / 2;
  if (threadIdx.x < STAGES) { init(full + threadIdx.x, blockDim.x); init(empty + threadIdx.x, blockDim.x); }
  __syncthreads();
  if (threadIdx.x < half) {
    for (int t = 0; t < tiles; t++) {
      int s = t % STAGES;
      empty[s].arrive_and_wait();
      data[s][threadIdx.x] = in[(blockIdx.x * tiles + t) * half + threadIdx.x];
      (void)full[s].arrive();
    }
  } else {
    u32 me = threadIdx.x - half, mine = 0;
    for (int s = 0; s < STAGES; s++) (void)empty[s].arrive();
    for (int t = 0; t < tiles; t++) {
      int s = t % STAGES;
      full[s].arrive_and_wait();
      mine += data[s][(me + 33) % half];
      (void)empty[s].arrive();
    }
    atomicAdd(sum, mine);
  }
}
