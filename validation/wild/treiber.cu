// Treiber stack; head is tag << 32 | index + 1. Each thread pushes its own node, then pops one, `each` times.
#include "util.cuh"
__global__ void treiber(u64 *head, u32 *next, u32 *value, int each, u64 *sum) {
  u32 node = blockIdx.x * blockDim.x + threadIdx.x;
  aref<u64> h(*head);
  u64 mine = 0;
  for (int i = 0; i < each; i++) {
    value[node] = node + i;
    u64 old = h.load(memory_order_relaxed), now;
    do {
      aref<u32>(next[node]).store((u32)old, memory_order_relaxed);
      now = ((old >> 32) + 1) << 32 | (node + 1);
    } while (!h.compare_exchange_weak(old, now, memory_order_release, memory_order_relaxed));
    old = h.load(memory_order_acquire);
    do {
      now = ((old >> 32) + 1) << 32 | aref<u32>(next[(u32)old - 1]).load(memory_order_relaxed);
    } while (!h.compare_exchange_weak(old, now, memory_order_acquire, memory_order_acquire));
    node = (u32)old - 1;
    mine += value[node];
  }
  atomicAdd(sum, mine);
}
