// Ones from a bit on (BMSK), as tests/unit/test_mc_kernels.c computes it on a CPU. Recorded: for sm in 80 86 90: nvcc -cubin -arch=sm_$sm -o
// bits.sm_$sm.cubin bits.cu
extern "C" __global__ void ones(int *out, const int *in) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned wrapped, clamped, first = in[t] & 63, count = in[t] >> 6 & 63;
  asm("bmsk.wrap.b32 %0, %1, %2;" : "=r"(wrapped) : "r"(first), "r"(count));
  asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(clamped) : "r"(first), "r"(count));
  out[t] = wrapped + 3 * clamped;
}
