// Persistent threads: warps fetch `batch` items each time from one counter; work of an item varies (Collatz).
#include "util.cuh"
__global__ void pworkq(u32 *counter, u32 items, u32 batch, u32 *steps, u32 *fetched) {
  u32 lane = threadIdx.x % 32, total = 0, fetches = 0;
  for (;;) {
    u32 base;
    if (lane == 0) base = atomicAdd(counter, batch);
    base = __shfl_sync(0xffffffffu, base, 0);
    if (base >= items) break;
    fetches++;
    for (u32 i = base + lane; i < base + batch && i < items; i += 32) {
      u32 n = i + 1, s = 0;
      while (n != 1 && s < 100) n = n & 1 ? 3 * n + 1 : n / 2, s++;
      total += s;
    }
  }
  for (int d = 16; d; d /= 2) total += __shfl_xor_sync(0xffffffffu, total, d);
  if (lane == 0) { atomicAdd(steps, total); atomicAdd(fetched, fetches); }
}
