// One thread sees a flag, and another warp of its block reads behind a block barrier. PTX: traces/make_ptx.sh cuda_behind_barrier.cu
template <bool fenced, typename Data> static __device__ __forceinline__ void hand_over(Data *data, int *flag, int *out, int reader) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      *data = 42;
      __threadfence();
      atomicExch(flag, 1);
    }
    return;
  }
  if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0)
      ;
    if (fenced)
      __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == reader)
    *out = *data;
}

extern "C" __global__ void strong(int *data, int *flag, int *out, int reader) {
  hand_over<false>((volatile int *)data, flag, out, reader);
}
extern "C" __global__ void strong_fenced(int *data, int *flag, int *out, int reader) {
  hand_over<true>((volatile int *)data, flag, out, reader);
}
extern "C" __global__ void plain(int *data, int *flag, int *out, int reader) { hand_over<false>(data, flag, out, reader); }
extern "C" __global__ void plain_fenced(int *data, int *flag, int *out, int reader) { hand_over<true>(data, flag, out, reader); }
