// Ticket lock of cuda::atomic_ref; the holder does `work` dependent updates of plain data.
#include "util.cuh"
__global__ void ticket(u32 *next, u32 *serving, u32 *data, int each, int work, int prop) {
  if (threadIdx.x % 32) return;
  aref<u32> n(*next), s(*serving);
  for (int i = 0; i < each; i++) {
    u32 mine = n.fetch_add(1, memory_order_relaxed), now;
    while ((now = s.load(memory_order_acquire)) != mine)
      if (prop) __nanosleep((mine - now) * prop);
    for (int w = 0; w < work; w++) data[w * 32] += 1;
    s.store(mine + 1, memory_order_release);
  }
}
