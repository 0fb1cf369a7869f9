// A kernel whose blocks come in pairs, though nothing in its code shows it. Recorded:
// nvcc -cubin -arch=sm_90 -o cluster.sm_90.cubin cluster.cu
extern "C" __global__ void __cluster_dims__(2) pairs(int *out) { out[blockIdx.x] = blockIdx.x; }
extern "C" __global__ void __cluster_dims__(1) alone(int *out) { out[blockIdx.x] = blockIdx.x; }
