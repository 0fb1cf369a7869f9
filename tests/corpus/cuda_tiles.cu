// Words that lanes of a tile hand to each other: sync() orders the lanes of its own tile, and no others of the warp.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <unsigned size> static __device__ void hand_over(int *out, unsigned distance) {
  __shared__ int box[32];
  auto tile = cg::tiled_partition<size>(cg::this_thread_block());
  box[threadIdx.x] = threadIdx.x;
  tile.sync();
  out[threadIdx.x] = box[threadIdx.x ^ distance];
}

extern "C" __global__ void within_tiles(int *out) { hand_over<8>(out, 5); }
extern "C" __global__ void across_tiles(int *out) { hand_over<8>(out, 13); }
extern "C" __global__ void across_small_tiles(int *out) { hand_over<16>(out, 13); }
