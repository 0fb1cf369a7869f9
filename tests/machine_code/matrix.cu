// An instruction that isn't read: nvcc -cubin -arch=sm_90 -o matrix.sm_90.cubin matrix.cu
extern "C" __global__ void load(int *out, const int *in) {
  __shared__ int matrix[32];
  matrix[threadIdx.x] = in[threadIdx.x];
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(out[threadIdx.x])
               : "r"((unsigned)__cvta_generic_to_shared(&matrix[threadIdx.x % 8 * 4])));
}
