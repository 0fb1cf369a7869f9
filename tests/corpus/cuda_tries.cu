// Who waits looks at least so many times, counts that, and asks for the count and the flag at once: ptxas makes one
// comparison of it, combined with the other. PTX: traces/make_ptx.sh cuda_tries.cu
static __device__ void wait(volatile int *flag, int *tries, int least) {
  int count = 0;
  while (flag[0] == 0 || count < least)
    count++;
  atomicMax(tries, count);
}

extern "C" __global__ void tries(volatile int *flag, int *most, int least) {
  if (blockIdx.x > 0)
    wait(flag, most, least);
  else
    flag[0] = 1;
}
// The flag behind is set.
extern "C" __global__ void tries_behind(volatile int *flag, int *most, int least) {
  if (blockIdx.x > 0)
    wait(flag, most, least);
  else
    flag[1] = 1;
}
