// Open addressing, linear probing: key claimed by CAS, its count by atomicAdd.
#include "util.cuh"
__global__ void insert(u32 *keys, u32 *counts, u32 mask, u32 keyspace, int each, u32 *fresh) {
  u32 t = blockIdx.x * blockDim.x + threadIdx.x, mine = 0;
  for (int i = 0; i < each; i++) {
    u32 key = mix(t * each + i + 1) % keyspace + 1, at = mix(key * 31) & mask;
    for (;;) {
      u32 old = atomicCAS(&keys[at], 0, key);
      if (old == 0) mine++;
      if (old == 0 || old == key) { atomicAdd(&counts[at], 1); break; }
      at = (at + 1) & mask;
    }
  }
  atomicAdd(fresh, mine);
}
__global__ void lookup(const u32 *keys, const u32 *counts, u32 mask, u32 keyspace, int each, u32 *found) {
  u32 t = blockIdx.x * blockDim.x + threadIdx.x, mine = 0;
  for (int i = 0; i < each; i++) {
    u32 key = mix(t * each + i + 1) % keyspace + 1, at = mix(key * 31) & mask;
    while (keys[at] != 0 && keys[at] != key) at = (at + 1) & mask;
    mine += keys[at] == key && counts[at] > 0;
  }
  atomicAdd(found, mine);
}
