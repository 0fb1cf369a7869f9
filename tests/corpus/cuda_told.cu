// A warp that takes values out of a queue in shared memory asks lane 0's two words by shuffles: how many there are, and whether more
// will come. PTX: make_ptx.sh cuda_told.cu
template <bool CLOSES> static __device__ void take_all(int *out) {
  __shared__ int values[64], count, closed;
  int lane = threadIdx.x % 32;
  if (threadIdx.x == 0)
    count = closed = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    values[lane] = lane + 1;
    __threadfence_block();
    __syncwarp();
    if (lane == 0)
      *(volatile int *)&count = 32;
    __threadfence_block();
    if (lane == 0 && CLOSES)
      *(volatile int *)&closed = 1;
    return;
  }
  for (int taken = 0, sum = 0, ends = 0; !ends;) {
    ends = *(volatile int *)&closed;
    __threadfence_block();
    int there = *(volatile int *)&count;
    __threadfence_block();
    there = __shfl_sync(~0u, there, 0);
    ends = __shfl_sync(~0u, ends, 0);
    for (; taken < there; taken += 32)
      sum += values[taken + lane];
    out[lane] = sum;
  }
}
extern "C" __global__ void told(int *out) { take_all<true>(out); }
extern "C" __global__ void never_told(int *out) { take_all<false>(out); }
