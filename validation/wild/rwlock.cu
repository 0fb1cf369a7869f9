// Reader-writer lock: bit 31 the writer, the rest the number of readers. Warp leaders; every `period`-th turn writes.
#include "util.cuh"
#define W 0x80000000u
__global__ void rwlock(u32 *lock, u32 *data, int each, int period, u32 *bad, u32 *wrote) {
  if (threadIdx.x % 32) return;
  aref<u32> l(*lock);
  u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, b = 0, w = 0;
  for (int i = 0; i < each; i++) {
    if ((warp + i) % period == 0) {
      u32 free = 0;
      while (!l.compare_exchange_weak(free, W, memory_order_acquire, memory_order_relaxed)) free = 0;
      data[0] += 1; data[64] += 1; w++;
      l.fetch_and(~W, memory_order_release);
    } else {
      while (l.fetch_add(1, memory_order_acquire) & W) {
        l.fetch_sub(1, memory_order_relaxed);
        while (l.load(memory_order_relaxed) & W) ;
      }
      b += data[0] != data[64];
      l.fetch_sub(1, memory_order_release);
    }
  }
  if (b) atomicAdd(bad, b);
  atomicAdd(wrote, w);
}
