// Seqlock: warps of the first `writers` blocks write (leader, CAS makes the sequence odd), other threads read until they
// get an even, unchanged sequence. torn counts inconsistent snapshots.
#include "util.cuh"
__global__ void seqlock(u32 *seq, u32 *data, int writers, int writes, int reads, u32 *torn, u32 *got) {
  aref<u32> s(*seq);
  if ((int)blockIdx.x < writers) {
    if (threadIdx.x) return;
    for (int i = 0; i < writes; i++) {
      u32 v;
      for (;;) {
        v = s.load(memory_order_relaxed);
        if (!(v & 1) && s.compare_exchange_weak(v, v + 1, memory_order_acquire, memory_order_relaxed)) break;
      }
      cuda::atomic_thread_fence(memory_order_release, cuda::thread_scope_device);
      for (int k = 0; k < 4; k++) {
        aref<u32> d(data[k]);
        d.store(d.load(memory_order_relaxed) + k + 1, memory_order_relaxed);
      }
      s.store(v + 2, memory_order_release);
    }
  } else {
    u32 bad = 0, last = 0;
    for (int i = 0; i < reads; i++) {
      u32 before, after, d[4];
      do {
        before = s.load(memory_order_acquire);
        for (int k = 0; k < 4; k++) d[k] = aref<u32>(data[k]).load(memory_order_relaxed);
        cuda::atomic_thread_fence(memory_order_acquire, cuda::thread_scope_device);
        after = s.load(memory_order_relaxed);
      } while ((before & 1) || before != after);
      bad += d[1] != 2 * d[0] || d[2] != 3 * d[0] || d[3] != 4 * d[0] || d[0] < last;
      last = d[0];
    }
    atomicAdd(torn, bad);
    atomicAdd(got, reads);
  }
}
