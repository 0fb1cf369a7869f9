// Transfers between two accounts, locks taken in the order of their numbers; every thread.
#include "util.cuh"
__global__ void bank(u32 *locks, int *balance, u32 accounts, int each) {
  u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < each; i++) {
    u32 r = mix(t * each + i + 77), a = r % accounts, b = mix(r) % accounts;
    if (a == b) b = (b + 1) % accounts;
    u32 lo = min(a, b), hi = max(a, b);
    for (bool done = false; !done;) {
      if (atomicCAS(&locks[lo], 0, 1) == 0) {
        if (atomicCAS(&locks[hi], 0, 1) == 0) {
          __threadfence();
          ((volatile int *)balance)[a] -= 1 + (r & 15);
          ((volatile int *)balance)[b] += 1 + (r & 15);
          __threadfence();
          atomicExch(&locks[hi], 0);
          done = true;
        }
        atomicExch(&locks[lo], 0);
      }
    }
  }
}
