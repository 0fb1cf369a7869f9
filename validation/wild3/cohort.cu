// A cohort lock: warps of an SM hand a global ticket lock on to each other, at most `limit` times in a row; and Dice and Kogan's Hemlock, whose waiters wait at a
// word of their predecessor.
#include "../wild/util.cuh"
struct Local { u32 next, serving, owned, passed; };
__device__ __forceinline__ u32 smid() { u32 r; asm volatile("mov.u32 %0, %%smid;" : "=r"(r)); return r; }
__global__ void cohort(Local *locals, u32 *global, u32 *data, int each, u32 limit) {
  if (threadIdx.x % 32) return;
  Local *l = &locals[smid() * 8];
  for (int i = 0; i < each; i++) {
    u32 mine = atomicAdd(&l->next, 1);
    while (*(volatile u32 *)&l->serving != mine) ;
    __threadfence();
    if (!*(volatile u32 *)&l->owned) {
      u32 turn = atomicAdd(&global[0], 1);
      while (*(volatile u32 *)&global[32] != turn) ;
      __threadfence();
      *(volatile u32 *)&l->owned = 1;
      *(volatile u32 *)&l->passed = 0;
    }
    data[0] += 1;
    data[1] += i;
    __threadfence();
    u32 passed = *(volatile u32 *)&l->passed;
    if (*(volatile u32 *)&l->next == mine + 1 || passed == limit) { // nobody behind, or enough
      *(volatile u32 *)&l->owned = 0;
      *(volatile u32 *)&global[32] = *(volatile u32 *)&global[32] + 1;
      __threadfence();
    } else
      *(volatile u32 *)&l->passed = passed + 1;
    *(volatile u32 *)&l->serving = mine + 1;
  }
}
// One grant word a thread; the lock's tail holds the last thread's number, 0 for none.
__global__ void hemlock(u32 *tail, u32 *grants, int stride, u32 *data, int each) {
  if (threadIdx.x) return;
  u32 me = blockIdx.x + 1;
  aref<u32> end(*tail), grant(grants[me * stride]);
  for (int i = 0; i < each; i++) {
    u32 before = end.exchange(me, memory_order_acq_rel);
    if (before) {
      aref<u32> theirs(grants[before * stride]);
      while (theirs.load(memory_order_acquire) != 1) ;
      theirs.store(0, memory_order_release);
    }
    data[0] += 1;
    data[1] += me;
    u32 expected = me;
    if (!end.compare_exchange_strong(expected, 0, memory_order_release, memory_order_relaxed)) {
      grant.store(1, memory_order_release);
      while (grant.load(memory_order_acquire) != 0) ;
    }
  }
}
