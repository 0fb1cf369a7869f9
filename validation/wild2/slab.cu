// Hash table whose buckets are lines of 32 words: the lanes of a warp look at a bucket together, for one lane's key after the other.
#include "../wild/util.cuh"
template <bool PUTS> __device__ __forceinline__ u32 probe(u32 *table, u32 buckets, u32 key) { // 1 if put, or found
  u32 lane = threadIdx.x % 32, mine = 0;
  for (u32 left = ~0u; left;) {
    int who = __ffs(left) - 1;
    u32 k = __shfl_sync(~0u, key, who), b = mix(k) % buckets;
    for (;;) {
      u32 v = PUTS ? *(volatile u32 *)&table[b * 32 + lane] : table[b * 32 + lane];
      if (__any_sync(~0u, v == k)) { if (!PUTS && lane == who) mine = 1; break; }
      u32 empty = __ballot_sync(~0u, v == 0);
      if (!PUTS && empty) break;
      if (!empty) { b = (b + 1) % buckets; continue; }
      u32 old = 1;
      if (lane == __ffs(empty) - 1) old = atomicCAS(&table[b * 32 + lane], 0, k);
      if (__any_sync(~0u, old == 0)) { if (lane == who) mine = 1; break; }
    }
    left &= left - 1;
  }
  return mine;
}
__global__ void slab_put(u32 *table, u32 buckets, int each, u32 *put) {
  u32 mine = 0;
  for (int i = 0; i < each; i++) mine += probe<true>(table, buckets, (i * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x + 1);
  atomicAdd(put, mine);
}
__global__ void slab_find(u32 *table, u32 buckets, int each, u32 *found) {
  u32 mine = 0;
  for (int i = 0; i < each; i++) mine += probe<false>(table, buckets, ((i * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x + 1) * 2);
  atomicAdd(found, mine);
}
