// A grid barrier of cooperative groups, and one made by hand.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void grid_sync(int *data, int steps) {
  cg::grid_group grid = cg::this_grid();
  for (int i = 0; i < steps; i++) {
    data[grid.thread_rank()] += data[(grid.thread_rank() + 1) % grid.size()];
    grid.sync();
  }
}

extern "C" __global__ void flat_barrier(unsigned *arrived, unsigned goal) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    while (*(volatile unsigned *)arrived < goal) {
    }
  }
  __syncthreads();
}
