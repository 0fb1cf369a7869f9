// What is in objects and fat binaries: nvcc -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -c -o add.object add.cu, and
// the same with -fatbin -Xfatbin -compress-all -o add.packed.fatbin
__device__ int base = 5;
extern "C" __global__ void add(int *sum, const int *values) { atomicAdd(sum, values[threadIdx.x] + base); }
