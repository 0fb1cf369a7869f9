// Test-and-test-and-set with exponential backoff by __nanosleep. All threads compete (the section is inside the loop).
#include "util.cuh"
__global__ void ttas(u32 *lock, u32 *data, int each, u32 floor, u32 ceiling, int leaders) {
  if (leaders && threadIdx.x) return;
  for (int i = 0; i < each; i++) {
    u32 wait = floor;
    bool done = false;
    while (!done) {
      if (*(volatile u32 *)lock == 0 && atomicCAS(lock, 0, 1) == 0) {
        __threadfence();
        *(volatile u32 *)data += 1;
        __threadfence();
        atomicExch(lock, 0);
        done = true;
      } else {
        __nanosleep(wait);
        if (wait < ceiling) wait *= 2;
      }
    }
  }
}
