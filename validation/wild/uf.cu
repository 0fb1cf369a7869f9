// Union-find: finds with path halving, links by CAS of the larger root to the smaller one. Then counts roots.
#include "util.cuh"
__device__ u32 find(u32 *parent, u32 v) {
  u32 p = aref<u32>(parent[v]).load(memory_order_relaxed);
  while (p != v) {
    u32 g = aref<u32>(parent[p]).load(memory_order_relaxed);
    if (g != p) aref<u32>(parent[v]).compare_exchange_weak(p, g, memory_order_relaxed);
    v = g;
    p = aref<u32>(parent[v]).load(memory_order_relaxed);
  }
  return v;
}
__global__ void unite(u32 *parent, const u32 *from, const u32 *to, u32 edges) {
  for (u32 e = blockIdx.x * blockDim.x + threadIdx.x; e < edges; e += gridDim.x * blockDim.x) {
    u32 a = from[e], b = to[e];
    for (;;) {
      a = find(parent, a); b = find(parent, b);
      if (a == b) break;
      if (a < b) { u32 s = a; a = b; b = s; }
      u32 expected = a;
      if (aref<u32>(parent[a]).compare_exchange_strong(expected, b, memory_order_relaxed)) break;
    }
  }
}
__global__ void roots(const u32 *parent, u32 n, u32 *count) {
  u32 mine = 0;
  for (u32 v = blockIdx.x * blockDim.x + threadIdx.x; v < n; v += gridDim.x * blockDim.x) mine += parent[v] == v;
  if (mine) atomicAdd(count, mine);
}
