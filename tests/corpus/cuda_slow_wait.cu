// One waits for another only if it came first, which happens only where the other one is slow. It waits asleep, and
// sleeps the longer the longer it has waited.
#include <cuda/atomic>

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

template <bool TOLD> static __device__ void wait_if_first(int *came, int *flag, int *steps) {
  if (blockIdx.x == 0) {
    for (int i = 0; i < 20; i++)
      atomicAdd(steps, 1);
    if (atomicAdd(came, 1) == 0)
      Flag(*flag).wait(0);
  } else if (atomicAdd(came, 1) == 1 && TOLD) {
    Flag(*flag).store(1);
    Flag(*flag).notify_one();
  }
}
extern "C" __global__ void slow_wait(int *came, int *flag, int *steps) { wait_if_first<true>(came, flag, steps); }
extern "C" __global__ void slow_wait_untold(int *came, int *flag, int *steps) {
  wait_if_first<false>(came, flag, steps);
}

// Who came first just sleeps, for a long time.
extern "C" __global__ void slow_sleep(int *came, int *steps) {
  if (blockIdx.x == 0)
    for (int i = 0; i < 20; i++)
      atomicAdd(steps, 1);
  if (atomicAdd(came, 1) == 0 && blockIdx.x == 0)
    for (int i = 0; i < 40; i++)
      __nanosleep(1000000);
}
