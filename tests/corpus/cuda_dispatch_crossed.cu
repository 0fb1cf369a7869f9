// Two blocks that fit together take two locks: in one order if block 0 is on SM 0, else crosswise. Nobody waits for a
// block that hasn't come, so this is a deadlock like any other.
extern "C" __global__ void crossed(int *lock, int *count) {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (threadIdx.x != 0)
    return;
  int first = sm == blockIdx.x ? 0 : blockIdx.x;
  while (atomicCAS(&lock[first], 0, 1) != 0) {
  }
  for (volatile int i = 0; i < 1000;)
    i = i + 1;
  while (atomicCAS(&lock[1 - first], 0, 1) != 0) {
  }
  __threadfence();
  *count += 1;
  __threadfence();
  atomicExch(&lock[0], 0);
  atomicExch(&lock[1], 0);
}
