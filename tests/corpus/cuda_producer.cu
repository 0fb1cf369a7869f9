// A ring of two places between two blocks of one thread. counts[0]: items put in, counts[1]: items taken out.
extern "C" __global__ void ring(int *counts, volatile int *place, int put, int taken) {
  if (blockIdx.x == 1)
    for (int i = 0; i < put; i++) {
      while (atomicAdd(&counts[0], 0) - atomicAdd(&counts[1], 0) >= 2)
        ;
      __threadfence();
      place[i % 2] = i;
      __threadfence();
      atomicAdd(&counts[0], 1);
    }
  else
    for (int i = 0; i < taken; i++) {
      while (atomicAdd(&counts[0], 0) <= i)
        ;
      __threadfence();
      place[2] += place[i % 2];
      __threadfence();
      atomicAdd(&counts[1], 1);
    }
}
