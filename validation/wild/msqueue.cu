// Michael-Scott queue with tagged 64-bit pointers (tag << 32 | node). Each thread enqueues, then dequeues until it got one.
#include "util.cuh"
__global__ void msqueue(u64 *head, u64 *tail, u64 *next, u32 *value, int each, u32 *sum) {
  u32 node = blockIdx.x * blockDim.x + threadIdx.x + 1; // node 0 is the first dummy
  u32 mine = 0;
  aref<u64> H(*head), T(*tail);
  for (int i = 0; i < each; i++) {
    aref<u32>(value[node]).store(blockIdx.x + i, memory_order_relaxed);
    aref<u64> mynext(next[node]);
    u64 old = mynext.load(memory_order_relaxed);
    mynext.store(((old >> 32) + 1) << 32 | 0xffffffffu, memory_order_relaxed);
    for (;;) {
      u64 t = T.load(memory_order_acquire);
      aref<u64> tn(next[(u32)t]);
      u64 n = tn.load(memory_order_acquire);
      if (t != T.load(memory_order_acquire)) continue;
      if ((u32)n == 0xffffffffu) {
        if (tn.compare_exchange_weak(n, ((n >> 32) + 1) << 32 | node, memory_order_acq_rel, memory_order_relaxed)) {
          T.compare_exchange_strong(t, ((t >> 32) + 1) << 32 | node, memory_order_acq_rel, memory_order_relaxed);
          break;
        }
      } else
        T.compare_exchange_strong(t, ((t >> 32) + 1) << 32 | (u32)n, memory_order_acq_rel, memory_order_relaxed);
    }
    for (;;) {
      u64 h = H.load(memory_order_acquire), t = T.load(memory_order_acquire);
      u64 n = aref<u64>(next[(u32)h]).load(memory_order_acquire);
      if (h != H.load(memory_order_acquire)) continue;
      if ((u32)h == (u32)t) {
        if ((u32)n == 0xffffffffu) continue; // empty: can't be for long
        T.compare_exchange_strong(t, ((t >> 32) + 1) << 32 | (u32)n, memory_order_acq_rel, memory_order_relaxed);
      } else {
        u32 v = aref<u32>(value[(u32)n]).load(memory_order_relaxed);
        if (H.compare_exchange_weak(h, ((h >> 32) + 1) << 32 | (u32)n, memory_order_acq_rel, memory_order_relaxed)) {
          mine += v;
          node = (u32)h;
          break;
        }
      }
    }
  }
  atomicAdd(sum, mine);
}
