// A kernel whose blocks come in pairs, though nothing in its code shows it. Recorded:
// nvcc -cubin -arch=sm_90 -o cluster.sm_90.cubin cluster.cu
extern "C" __global__ void __cluster_dims__(2) pairs(int *out) { out[blockIdx.x] = blockIdx.x; }
extern "C" __global__ void __cluster_dims__(1) alone(int *out) { out[blockIdx.x] = blockIdx.x; }

// What cooperative_groups::this_cluster().sync() is: without the barrier lanes of one warp would read what another has not stored.
static __device__ void meet() {
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

static __device__ void turn(int *out) {
  __shared__ int words[64];
  words[threadIdx.x] = threadIdx.x + 1;
  meet();
  out[threadIdx.x] = words[63 - threadIdx.x];
}

extern "C" __global__ void meets(int *out) { turn(out); }
extern "C" __global__ void __cluster_dims__(1) meets_alone(int *out) { turn(out); }
