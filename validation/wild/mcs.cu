// MCS lock: a queue node of each block, on lines of their own. Indices from 1; 0 is none.
#include "util.cuh"
struct __align__(128) Q { u32 next, locked; };
__global__ void mcs(u32 *tail, Q *q, u32 *data, int each, int outside) {
  if (threadIdx.x) return;
  u32 me = blockIdx.x + 1, x = me;
  for (int i = 0; i < each; i++) {
    aref<u32>(q[me].next).store(0, memory_order_relaxed);
    aref<u32>(q[me].locked).store(1, memory_order_relaxed);
    u32 before = aref<u32>(*tail).exchange(me, memory_order_acq_rel);
    if (before) {
      aref<u32>(q[before].next).store(me, memory_order_release);
      while (aref<u32>(q[me].locked).load(memory_order_acquire)) ;
    }
    data[0] += 1; data[1] ^= me;
    u32 after = aref<u32>(q[me].next).load(memory_order_acquire);
    if (!after) {
      u32 expected = me;
      if (!aref<u32>(*tail).compare_exchange_strong(expected, 0, memory_order_acq_rel)) {
        while (!(after = aref<u32>(q[me].next).load(memory_order_acquire))) ;
      }
    }
    if (after) aref<u32>(q[after].locked).store(0, memory_order_release);
    for (int w = 0; w < outside; w++) x = mix(x);
  }
  data[32 + blockIdx.x] = x;
}
