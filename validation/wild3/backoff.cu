// arch: sm_90
// Spin locks that sleep: a ticket lock whose waiters sleep as long as there are others before them, and test-and-test-and-set whose sleep doubles with each
// failure, as libcu++ does it.
#include "../wild/util.cuh"
struct TicketLock { u32 next, pad[31], serving; };
__global__ void prop_ticket(TicketLock *lock, u32 *data, int each, u32 base) {
  if (threadIdx.x % 32) return;
  for (int i = 0; i < each; i++) {
    u32 mine = atomicAdd(&lock->next, 1);
    for (;;) {
      u32 now = *(volatile u32 *)&lock->serving;
      if (now == mine) break;
      __nanosleep(base * (mine - now));
    }
    __threadfence();
    data[0] = data[0] + 1;
    data[32] = data[32] + mine;
    __threadfence();
    *(volatile u32 *)&lock->serving = mine + 1;
  }
}
__global__ void exp_ttas(u32 *locks, int n, u32 *data, int each, u32 least, u32 most) {
  if (threadIdx.x % 32) return;
  u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  for (int i = 0; i < each; i++) {
    u32 which = mix(warp * each + i) % n, wait = least;
    aref<u32> lock(locks[which * 32]);
    while (lock.load(memory_order_relaxed) || lock.exchange(1, memory_order_acquire)) {
      __nanosleep(wait);
      wait = wait * 2 < most ? wait * 2 : most;
    }
    data[which * 8] += 1;
    lock.store(0, memory_order_release);
  }
}
