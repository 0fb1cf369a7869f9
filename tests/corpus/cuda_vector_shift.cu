// A float2 whose address a caller hands over: an atomic of a vector wants it aligned as a whole. PTX: nvcc -ptx -lineinfo -arch=sm_90,
// with the bare file name; machine code: ptxas --generate-line-info.
extern "C" __global__ void vector_shift(float *sums, int first) {
  atomicAdd((float2 *)(sums + first), make_float2(1, threadIdx.x));
}
// The components each on their own.
extern "C" __global__ void vector_apart(float *sums, int first) {
  atomicAdd(sums + first, 1.0f);
  atomicAdd(sums + first + 1, (float)threadIdx.x);
}
