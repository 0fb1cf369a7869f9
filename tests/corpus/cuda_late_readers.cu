// A writer that waits until no reader is counted, and readers that count themselves and give way to a writer. Each side has to fence
// what it says before it looks at the other one. PTX: traces/make_ptx.sh cuda_late_readers.cu
template <bool FENCE> static __device__ void guard(volatile int *writes, int *readers, int *plain, int *torn) {
  if (blockIdx.x == 0) {
    *writes = 1;
    __threadfence();
    while (*(volatile int *)readers != 0) {
    }
    __threadfence();
    plain[0] = 1;
    plain[1] = 1;
    __threadfence();
    *writes = 0;
    return;
  }
  for (;;) {
    atomicAdd(readers, 1);
    if (FENCE)
      __threadfence();
    if (*writes == 0)
      break;
    atomicSub(readers, 1);
    while (*writes != 0) {
    }
  }
  __threadfence();
  if (plain[0] != plain[1])
    *torn = 1;
  __threadfence();
  atomicSub(readers, 1);
}
extern "C" __global__ void counted(volatile int *writes, int *readers, int *plain, int *torn) {
  guard<true>(writes, readers, plain, torn);
}
extern "C" __global__ void counted_no_fence(volatile int *writes, int *readers, int *plain, int *torn) {
  guard<false>(writes, readers, plain, torn);
}
