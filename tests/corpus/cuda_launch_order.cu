// Blocks of one kernel wait for a kernel that is launched behind it in another stream (validation/hardware/launch_order.cu). It starts only when all blocks of the kernels before it
// have found room, though there is room for its own.
// PTX: traces/make_ptx.sh cuda_launch_order.cu
extern "C" __global__ void waits(int *words) {
  extern __shared__ int space[];
  if (threadIdx.x)
    return;
  space[0] = 1;
  while (!*(volatile int *)words)
    ;
  atomicAdd(words + 1, 1);
}
extern "C" __global__ void sets(int *words, int flag) {
  extern __shared__ int space[];
  if (threadIdx.x)
    return;
  space[0] = 1;
  atomicExch(words + flag, 1);
}
