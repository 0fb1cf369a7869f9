// __syncthreads() that part of a block reaches.

// Lanes without an element have ended: no barrier misses them.
extern "C" __global__ void early_return(int *out, int n) {
  __shared__ int value[64];
  if (threadIdx.x >= n)
    return;
  value[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = value[n - 1 - threadIdx.x];
}

// Half of a warp passes by the barrier, and doesn't wait for the other warp.
extern "C" __global__ void sync_in_branch(int *out) {
  __shared__ int value[64];
  value[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 16)
    __syncthreads();
  out[threadIdx.x] = value[63 - threadIdx.x];
}

// Threads without an element do something else, and end without ever coming to the barrier.
extern "C" __global__ void sync_in_if(int *out, int n) {
  __shared__ int value[64];
  if (threadIdx.x < n) {
    value[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = value[n - 1 - threadIdx.x];
  } else {
    atomicAdd(&out[n], 1);
  }
}

// The barrier of cooperative groups, which doesn't ask for whole warps; threads without an element pass by it.
extern "C" __global__ void group_sync_in_branch(int *out, int n) {
  __shared__ int value[64];
  value[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < n) {
    asm volatile("barrier.sync 0;" ::: "memory");
    out[threadIdx.x] = value[n - 1 - threadIdx.x];
  }
  out[64 + threadIdx.x] = 1;
}
