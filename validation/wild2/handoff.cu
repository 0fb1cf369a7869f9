// arch: sm_90
// Named barriers of 64 threads. handoff: warp 0 feeds the other warps in turn, each by a pair of barriers, full and empty. chain: the warps of a block pass
// a row of shared memory on, each to the next.
#include "../wild/util.cuh"
__device__ __forceinline__ void sync(int id) { asm volatile("bar.sync %0, 64;" :: "r"(id) : "memory"); }
__device__ __forceinline__ void arrive(int id) { asm volatile("bar.arrive %0, 64;" :: "r"(id) : "memory"); }
__global__ void handoff(const u32 *in, int items, u32 *out) {
  __shared__ u32 slot[7][32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, consumers = blockDim.x / 32 - 1;
  if (warp == 0) {
    for (int i = 0; i < items; i++)
      for (int c = 0; c < consumers; c++) {
        u32 v = in[(i * 7 + c) % 64 * 32 + lane];
        if (i) sync(2 + 2 * c);
        slot[c][lane] = v;
        arrive(1 + 2 * c);
      }
  } else {
    int c = warp - 1;
    u32 sum = 0;
    for (int i = 0; i < items; i++) {
      sync(1 + 2 * c);
      sum += slot[c][31 - lane];
      if (i + 1 < items) arrive(2 + 2 * c);
    }
    atomicAdd(out, sum);
  }
}
__global__ void chain(int rounds, u32 *out) {
  __shared__ u32 row[32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  if (warp == 0) row[lane] = lane;
  for (int r = 0; r < rounds; r++) {
    if (r || warp) sync(warp + 1);
    u32 v = row[(lane + 1) % 32];
    __syncwarp();
    row[lane] = v + 1;
    if (warp + 1 < warps) arrive(warp + 2);
    else if (r + 1 < rounds) arrive(1);
  }
  __syncthreads();
  if (warp == 0) atomicAdd(out, row[lane]);
}
