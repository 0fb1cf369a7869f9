// A block hands a tile on, which its threads have stored, by one thread that fences for all of them.
// PTX: make_ptx.sh cuda_block_fence.cu

template <bool WIDE> static __device__ void hand_over(int *flag, int *tile, int *out) {
  if (blockIdx.x == 0) {
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
      if (WIDE)
        __threadfence();
      else
        __threadfence_block();
      atomicExch(flag, 1);
    }
    return;
  }
  if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
  }
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}
extern "C" __global__ void fence_of_gpu(int *flag, int *tile, int *out) { hand_over<true>(flag, tile, out); }
extern "C" __global__ void fence_of_block(int *flag, int *tile, int *out) { hand_over<false>(flag, tile, out); }
