// An instruction that isn't read: nvcc -cubin -arch=sm_90 -o halves.sm_90.cubin halves.cu
#include <cuda_fp16.h>
extern "C" __global__ void compare(int *out, const __half2 *in) { out[threadIdx.x] = __hbgt2(in[threadIdx.x], in[0]); }
