// arch: sm_90
// Cooperative groups: a dot product and an update behind grid.sync() in each iteration, as the conjugate gradient sample has it; a stencil that works between
// arrival and wait of the grid.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include "../wild/util.cuh"
namespace cg = cooperative_groups;
__global__ void solve(int *x, int n, int iterations, u32 *dots) { // integers, so that sums are exact
  cg::grid_group grid = cg::this_grid();
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  __shared__ u32 part[32];
  for (int k = 0; k < iterations; k++) {
    u32 s = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) s += x[i] & 7;
    s = cg::reduce(tile, s, cg::plus<u32>());
    if (tile.thread_rank() == 0) part[tile.meta_group_rank()] = s;
    block.sync();
    if (tile.meta_group_rank() == 0) {
      u32 t = cg::reduce(tile, tile.thread_rank() < tile.meta_group_size() ? part[tile.thread_rank()] : 0, cg::plus<u32>());
      if (tile.thread_rank() == 0) atomicAdd(&dots[k], t);
    }
    grid.sync();
    u32 d = dots[k];
    for (int i = grid.thread_rank(); i < n; i += grid.size()) x[i] += d / n;
    grid.sync();
  }
}
__global__ void splitgrid(u32 *cells, int steps, int work, u32 *bad) {
  cg::grid_group grid = cg::this_grid();
  u32 wrong = 0, x = threadIdx.x, n = gridDim.x;
  for (int s = 1; s <= steps; s++) {
    if (threadIdx.x == 0) cells[(s & 1) * n + blockIdx.x] = s + blockIdx.x;
    auto token = grid.barrier_arrive();
#pragma unroll 1
    for (int w = 0; w < work; w++) x = x * 5 + 1;
    grid.barrier_wait(std::move(token));
    u32 other = (blockIdx.x + 1 + threadIdx.x) % n;
    wrong += cells[(s & 1) * n + other] != s + other;
  }
  if (wrong) atomicAdd(bad, wrong);
  if (x == 12345) bad[1] = 1;
}
