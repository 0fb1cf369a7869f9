// BFS, all levels in one cooperative launch: frontier queues, distances claimed by CAS, grid.sync() between levels.
#include <cooperative_groups.h>
#include "util.cuh"
namespace cg = cooperative_groups;
__global__ void bfs(const u32 *rows, const u32 *columns, int *dist, u32 *queue, u32 *sizes, u32 vertices, u32 *reached) {
  cg::grid_group grid = cg::this_grid();
  u32 t = grid.thread_rank(), n = grid.size();
  u32 *from = queue, *to = queue + vertices;
  if (t == 0) { dist[0] = 0; from[0] = 0; sizes[0] = 1; }
  grid.sync();
  u32 mine = 0;
  for (int level = 0;; level++) {
    u32 size = sizes[level];
    if (!size) break;
    for (u32 i = t; i < size; i += n) {
      u32 v = from[i];
      mine++;
      for (u32 e = rows[v]; e < rows[v + 1]; e++) {
        u32 w = columns[e];
        if (*(volatile int *)&dist[w] != -1) continue;
        if (atomicCAS(&dist[w], -1, level + 1) != -1) continue;
        u32 place = atomicAdd(&sizes[level + 1], 1);
        to[place] = w;
      }
    }
    grid.sync();
    u32 *swap = from; from = to; to = swap;
  }
  if (mine) atomicAdd(reached, mine);
}
