// Sums of float2 and float4, of which each component is added in one step. PTX: nvcc -ptx -lineinfo -arch=sm_90, with the bare file name;
// machine code: ptxas --generate-line-info.
extern "C" __global__ void vector_adds(float2 *two, float4 *four, int *olds) {
  float lane = threadIdx.x;
  atomicAdd(two, make_float2(1, lane));
  float4 old = atomicAdd(four, make_float4(1, 2, 4, lane));
  atomicOr(&olds[(int)old.x / 32], 1u << (int)old.x % 32);
}
// The same by loads and stores, which are lost.
extern "C" __global__ void vector_plain(float2 *two) {
  float2 sum = *two;
  *two = make_float2(sum.x + 1, sum.y + threadIdx.x);
}
