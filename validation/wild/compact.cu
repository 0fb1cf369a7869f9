// Stream compaction: warps aggregate their additions by cooperative groups (coalesced_threads), or not.
#include <cooperative_groups.h>
#include "util.cuh"
namespace cg = cooperative_groups;
__global__ void compact(const u32 *in, u32 words, u32 n, u32 below, u32 *out, u32 *count, int aggregate) {
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    u32 v = in[i & (words - 1)];
    if (v < below) {
      u32 at;
      if (aggregate) {
        cg::coalesced_group g = cg::coalesced_threads();
        if (g.thread_rank() == 0) at = atomicAdd(count, g.size());
        at = g.shfl(at, 0) + g.thread_rank();
      } else {
        asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 1;" : "=r"(at) : "l"(count) : "memory");
      }
      out[at] = v + 1;
    }
  }
}
