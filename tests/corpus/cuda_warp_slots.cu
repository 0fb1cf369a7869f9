// Which slots the warps of each `every`-th block get. PTX: nvcc -ptx -lineinfo -arch=sm_90, with the bare file name; machine code: ptxas --generate-line-info.
extern "C" __global__ void warp_slots(unsigned *slots, unsigned every) {
  unsigned slot;
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(slot));
  if (blockIdx.x % every == 0 && threadIdx.x % 32 == 0)
    slots[blockIdx.x / every * (blockDim.x / 32) + threadIdx.x / 32] = slot;
}
