// Cooperative groups: the blocks of a grid wait for each other.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void grid_sync(int *from, int *to) {
  cg::grid_group grid = cg::this_grid();
  int i = grid.thread_rank(), n = grid.size();
  from[i] = i;
  grid.sync();
  to[i] = from[n - 1 - i];
}

// Block 1 doesn't come.
extern "C" __global__ void grid_sync_left_out(int *from, int *to) {
  cg::grid_group grid = cg::this_grid();
  int i = grid.thread_rank();
  if (blockIdx.x == 1)
    return;
  from[i] = i;
  grid.sync();
  to[i] = from[i];
}

// Nobody waits.
extern "C" __global__ void grid_sync_forgotten(int *from, int *to) {
  cg::grid_group grid = cg::this_grid();
  int i = grid.thread_rank(), n = grid.size();
  from[i] = i;
  to[i] = from[n - 1 - i];
}

// Lanes of a warp that want the same counter send one of them.
extern "C" __global__ void aggregated(const int *in, int *count, int *out) {
  int value = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (value & 1) {
    cg::coalesced_group active = cg::coalesced_threads();
    int base = 0;
    if (active.thread_rank() == 0)
      base = atomicAdd(count, active.size());
    out[active.shfl(base, 0) + active.thread_rank()] = value;
  }
}
