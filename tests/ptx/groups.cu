// Tiles and coalesced groups: match, elect, reduce and shuffles under masks.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

extern "C" __global__ void tiles(int *in, int *out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  int v = in[block.thread_rank()];
  v += tile.shfl_down(v, 1);
  v = cg::reduce(tile, v, cg::plus<int>());
  tile.sync();
  if (v & 1) {
    cg::coalesced_group active = cg::coalesced_threads();
    v += active.size() + active.thread_rank();
    v = active.shfl(v, 0);
    active.sync();
  }
  block.sync();
  out[block.thread_rank()] = v;
}
