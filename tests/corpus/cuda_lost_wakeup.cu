// A condition variable by a number that wakers count up. Who waits reads it while it has the lock; or, in vain, only
// behind that: a wakeup between the two is lost, though it came after the look at `items`.
__device__ __forceinline__ void lock(int *mutex) {
  while (atomicCAS(mutex, 0, 1))
    __nanosleep(20);
  __threadfence();
}
__device__ __forceinline__ void unlock(int *mutex) {
  __threadfence();
  atomicExch(mutex, 0);
}

template <bool EARLY> __device__ __forceinline__ void hand_over(int *mutex, int *number, volatile int *items, int *got) {
  if (threadIdx.x)
    return;
  if (blockIdx.x == 0) {
    for (int round = 0; round < 4; round++) {
      lock(mutex);
      *items = *items + 1;
      unlock(mutex);
      if (round % 2)
        atomicAdd(number, 1);
    }
    return;
  }
  for (int round = 0; round < 2; round++) {
    lock(mutex);
    while (*items == 0) {
      int seen = EARLY ? atomicAdd(number, 0) : 0;
      unlock(mutex);
      if (!EARLY)
        seen = atomicAdd(number, 0);
      while (atomicAdd(number, 0) == seen)
        __nanosleep(40);
      lock(mutex);
    }
    *items = *items - 1;
    unlock(mutex);
    got[blockIdx.x] = round + 1;
  }
}
extern "C" __global__ void early(int *mutex, int *number, volatile int *items, int *got) {
  hand_over<true>(mutex, number, items, got);
}
extern "C" __global__ void late(int *mutex, int *number, volatile int *items, int *got) {
  hand_over<false>(mutex, number, items, got);
}
