// Barriers of the whole grid: one counter that only grows; a flag of each block, which the threads of block 0 collect and answer; grid.sync() behind
// unequal work.
#include <cooperative_groups.h>
#include "../wild/util.cuh"
namespace cg = cooperative_groups;
__device__ __forceinline__ u32 look(const u32 *cells, int r) { // how many of the cells of others don't show this round
  u32 other = (blockIdx.x + 1 + threadIdx.x) % gridDim.x;
  return ((volatile const u32 *)cells)[(r & 1) * gridDim.x + other] != r + other;
}
__global__ void gb_counter(u32 *count, u32 *cells, int rounds, u32 *bad) {
  u32 wrong = 0;
  for (int r = 1; r <= rounds; r++) {
    if (threadIdx.x == 0) {
      cells[(r & 1) * gridDim.x + blockIdx.x] = r + blockIdx.x;
      __threadfence();
      atomicAdd(count, 1);
      while (*(volatile u32 *)count < r * gridDim.x) ;
      __threadfence();
    }
    __syncthreads();
    wrong += look(cells, r);
    __syncthreads();
  }
  if (wrong) atomicAdd(bad, wrong);
}
__global__ void gb_flags(u32 *arrived, u32 *go, int stride, u32 *cells, int rounds, u32 *bad) {
  u32 wrong = 0;
  for (int r = 1; r <= rounds; r++) {
    if (threadIdx.x == 0) {
      cells[(r & 1) * gridDim.x + blockIdx.x] = r + blockIdx.x;
      aref<u32>(arrived[blockIdx.x * stride]).store(r, memory_order_release);
    }
    if (blockIdx.x == 0) {
      for (u32 b = threadIdx.x; b < gridDim.x; b += blockDim.x)
        while (aref<u32>(arrived[b * stride]).load(memory_order_acquire) != r) ;
      __syncthreads();
      for (u32 b = threadIdx.x; b < gridDim.x; b += blockDim.x) aref<u32>(go[b * stride]).store(r, memory_order_release);
    } else if (threadIdx.x == 0)
      while (aref<u32>(go[blockIdx.x * stride]).load(memory_order_acquire) != r) ;
    __syncthreads();
    wrong += look(cells, r);
    __syncthreads();
  }
  if (wrong) atomicAdd(bad, wrong);
}
__global__ void gb_coop(u32 *cells, int rounds, int work, u32 *bad) {
  cg::grid_group grid = cg::this_grid();
  u32 wrong = 0, x = threadIdx.x;
  for (int r = 1; r <= rounds; r++) {
    int mine = work * ((blockIdx.x * 37 + r) % 8);
#pragma unroll 1
    for (int w = 0; w < mine; w++) x = x * 5 + 1;
    if (threadIdx.x == 0) cells[(r & 1) * gridDim.x + blockIdx.x] = r + blockIdx.x;
    grid.sync();
    wrong += look(cells, r);
  }
  if (wrong) atomicAdd(bad, wrong);
  if (x == 12345) bad[1] = 1;
}
