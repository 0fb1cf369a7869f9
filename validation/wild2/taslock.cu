// Test-and-set, the old way (atomicCAS() and __threadfence()), and test-and-test-and-set by cuda::atomic_ref. One thread of each block (who = 0) or of each
// warp (1) competes for `n` locks, `stride` words apart; the holder adds 1 to `touch` words of different sectors. With sleep, that many ns between tries.
#include "../wild/util.cuh"
__global__ void tas(int *locks, int stride, int n, int *data, int touch, int each, int sleep, int who) {
  if (who ? threadIdx.x % 32 : threadIdx.x) return;
  int me = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  for (int i = 0; i < each; i++) {
    int which = (me * 7 + i * 13) % n;
    while (atomicCAS(&locks[which * stride], 0, 1) != 0)
      if (sleep) __nanosleep(sleep);
    __threadfence();
    for (int t = 0; t < touch; t++) {
      volatile int *word = &data[(t * n + which) * 8];
      *word = *word + 1;
    }
    __threadfence();
    atomicExch(&locks[which * stride], 0);
  }
}
__global__ void ttas(int *locks, int stride, int n, int *data, int touch, int each, int sleep, int who) {
  if (who ? threadIdx.x % 32 : threadIdx.x) return;
  int me = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  for (int i = 0; i < each; i++) {
    int which = (me * 7 + i * 13) % n;
    aref<int> lock(locks[which * stride]);
    while (lock.exchange(1, memory_order_acquire))
      while (lock.load(memory_order_relaxed))
        if (sleep) __nanosleep(sleep);
    for (int t = 0; t < touch; t++) data[(t * n + which) * 8] += 1;
    lock.store(0, memory_order_release);
  }
}
