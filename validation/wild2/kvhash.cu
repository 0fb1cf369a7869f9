// Keys and values in 64 bits, open addressing by double hashing and compare-and-swap. First all threads insert; then a quarter of the keys is deleted (a
// tombstone), one looked up, one added to, and as many keys looked up that aren't there.
#include "../wild/util.cuh"
#define GONE 0xffffffffu
__device__ __forceinline__ u32 find(u64 *slots, u32 mask, u32 key) { // the slot, or GONE
  u32 h = mix(key), at = h & mask, step = (h >> 16) | 1;
  for (;;) {
    u32 k = (u32)(aref<u64>(slots[at]).load(memory_order_relaxed) >> 32);
    if (k == key) return at;
    if (k == 0) return GONE;
    at = (at + step) & mask;
  }
}
__global__ void fill(u64 *slots, u32 mask, int each) {
  for (int i = 0; i < each; i++) {
    u32 key = (blockIdx.x * each + i) * blockDim.x + threadIdx.x + 1;
    u32 h = mix(key), at = h & mask, step = (h >> 16) | 1;
    while (atomicCAS(&slots[at], 0ull, (u64)key << 32 | 1) != 0) at = (at + step) & mask;
  }
}
__global__ void churn(u64 *slots, u32 mask, int each, u32 *deleted, u32 *found, u32 *absent) {
  u32 total = gridDim.x * blockDim.x * each, d = 0, f = 0, a = 0;
  for (int i = 0; i < each; i++) {
    u32 key = (blockIdx.x * each + i) * blockDim.x + threadIdx.x + 1, op = key & 3;
    u32 at = find(slots, mask, op == 2 ? key + total : key);
    if (op == 0) d += atomicExch(&slots[at], (u64)GONE << 32) >> 32 == key;
    else if (op == 1) f += at != GONE;
    else if (op == 2) a += at == GONE;
    else atomicAdd(&slots[at], 5ull);
  }
  atomicAdd(deleted, d);
  atomicAdd(found, f);
  atomicAdd(absent, a);
}
