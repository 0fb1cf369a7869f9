// A warp waits at a barrier of 64 threads for another one that only arrives, once in each round. Where the first isn't there yet when the second comes again, the two
// arrivals of that one complete the barrier. What keeps them in step is a barrier of the block behind each round.
// PTX: traces/make_ptx.sh cuda_arrives_twice.cu
extern "C" __global__ void twice(int *out, int in_step) {
  __shared__ int word[2];
  unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  __syncthreads();
  for (int round = 0; round < 2; round++) {
    if (warp == 1) {
      if (lane == 0)
        word[round] = round + 1;
      asm volatile("bar.arrive 2, 64;" ::: "memory");
    } else {
      asm volatile("bar.sync 2, 64;" ::: "memory");
      if (lane == 0)
        out[round] = word[round];
    }
    if (in_step)
      __syncthreads();
  }
}
