// What is in objects and fat binaries: nvcc -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -c -o add.object add.cu, and
// the same with -fatbin -Xfatbin -compress-all -o add.packed.fatbin; code=compute_90 and --compress-mode=speed for add.lz4.fatbin. plain.fatbin: a cubin
// of sm_90 by fatbinary --compress=false. add.linked.object: -rdc=true -c, -dlink, and both in one by ld -r.
__device__ int base = 5;
extern "C" __global__ void add(int *sum, const int *values) { atomicAdd(sum, values[threadIdx.x] + base); }
