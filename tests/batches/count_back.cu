// A semaphore that counts down by who may not pass, too, and back: many blocks keep all of them out for long, but an order of steps ends it.
extern "C" __global__ void count_back(int *count, int ops) {
  if (threadIdx.x)
    return;
  for (int i = 0; i < ops; i++) {
    while (atomicSub(count, 1) <= 0)
      atomicAdd(count, 1);
    __threadfence();
    atomicAdd(count, 1);
  }
}
