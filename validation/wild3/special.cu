// arch: sm_90
// Specialized warps: the producer and consumer of the programming guide, with a pair of cuda::barrier for each of two buffers; and CudaDMA's, with named barriers.
#include <cuda/barrier>
#include "../wild/util.cuh"
using barrier = cuda::barrier<cuda::thread_scope_block>;
__device__ void produce(barrier ready[], barrier filled[], u32 *buffer, const u32 *in, int n, int size) {
  for (int i = 0; i < n / size; i++) {
    ready[i % 2].arrive_and_wait();
    for (int j = threadIdx.x; j < size; j += 32) buffer[(i % 2) * size + j] = in[i * size + j];
    (void)filled[i % 2].arrive();
  }
}
__device__ void consume(barrier ready[], barrier filled[], const u32 *buffer, u32 *out, int n, int size) {
  u32 sum = 0, t = threadIdx.x - 32;
  (void)ready[0].arrive();
  (void)ready[1].arrive();
  for (int i = 0; i < n / size; i++) {
    filled[i % 2].arrive_and_wait();
    for (int j = t; j < size; j += blockDim.x - 32) sum += buffer[(i % 2) * size + j];
    (void)ready[i % 2].arrive();
  }
  atomicAdd(out, sum);
}
__global__ void guide(const u32 *in, int n, int size, u32 *out) {
  extern __shared__ u32 buffer[];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier bar[4];
  if (threadIdx.x < 4) init(bar + threadIdx.x, blockDim.x);
  __syncthreads();
  in += blockIdx.x * n;
  if (threadIdx.x < 32) produce(bar, bar + 2, buffer, in, n, size);
  else consume(bar, bar + 2, buffer, out, n, size);
}
// One warp loads for each of `groups` groups of 64 threads that compute; barriers 2g + 1 (full) and 2g + 2 (empty).
__global__ void cudadma(const u32 *in, int tiles, u32 *out) {
  __shared__ u32 stage[4][64];
  int groups = blockDim.x / 96, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp < groups) {
    for (int i = 0; i < tiles; i++) {
      const u32 *from = in + ((blockIdx.x * groups + warp) * tiles + i) * 64;
      u32 a = from[lane], b = from[lane + 32];
      asm volatile("bar.sync %0, 96;" ::"r"(2 * warp + 2) : "memory");
      stage[warp][lane] = a;
      stage[warp][lane + 32] = b;
      asm volatile("bar.arrive %0, 96;" ::"r"(2 * warp + 1) : "memory");
    }
  } else {
    int g = (threadIdx.x - groups * 32) / 64, t = (threadIdx.x - groups * 32) % 64;
    u32 sum = 0;
    for (int i = 0; i < tiles; i++) {
      asm volatile("bar.arrive %0, 96;" ::"r"(2 * g + 2) : "memory");
      asm volatile("bar.sync %0, 96;" ::"r"(2 * g + 1) : "memory");
      sum += stage[g][t] + stage[g][63 - t];
    }
    atomicAdd(out, sum);
  }
}
