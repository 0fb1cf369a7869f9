// Warps of a block as a pipeline: rows of 32 words go from warp to warp through rings of `depth` rows in shared memory; counters of block scope say how many
// were put and taken.
#include "../wild/util.cuh"
template <class T> using bref = cuda::atomic_ref<T, cuda::thread_scope_block>;
__global__ void warpline(const u32 *in, int items, u32 depth, u32 *out) {
  __shared__ u32 rows[16][4][32], put[16], taken[16]; // from warp w to w + 1
  u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32, total = 0;
  if (threadIdx.x < 16) put[threadIdx.x] = taken[threadIdx.x] = 0;
  __syncthreads();
  for (u32 i = 0; i < items; i++) {
    u32 v;
    if (warp == 0) v = in[(blockIdx.x + i) % 64 * 32 + lane];
    else {
      if (lane == 0) while (bref<u32>(put[warp - 1]).load(memory_order_acquire) <= i) ;
      __syncwarp();
      v = rows[warp - 1][i % depth][lane ^ 1];
      __syncwarp();
      if (lane == 0) bref<u32>(taken[warp - 1]).store(i + 1, memory_order_release);
    }
    v += 1;
    if (warp + 1 < warps) {
      if (lane == 0) while (i - bref<u32>(taken[warp]).load(memory_order_acquire) >= depth) ;
      __syncwarp();
      rows[warp][i % depth][lane] = v;
      __syncwarp();
      if (lane == 0) bref<u32>(put[warp]).store(i + 1, memory_order_release);
    } else
      total += v;
  }
  if (total) atomicAdd(out, total);
}
