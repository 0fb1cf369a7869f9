// A warp spins on a flag in shared memory that another one sets behind a fence. The fence waits for long, since the atomic
// operations of all blocks queue up at one word: only the loop issues meanwhile, and yet this isn't a circle.
extern "C" __global__ void slow_fence(int *sum, int rounds) {
  __shared__ volatile int done;
  if (threadIdx.x == 0)
    done = 0;
  __syncthreads();
  if (threadIdx.x >= 32) {
    for (int i = 0; i < rounds; i++)
      atomicAdd(sum, 1);
    __threadfence();
    done = 1;
  } else if (blockIdx.x == 0) {
    while (!done)
      ;
  }
}
