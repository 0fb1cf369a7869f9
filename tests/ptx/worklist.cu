// A worklist with an atomic head, warp-aggregated.
__device__ unsigned head;
extern "C" __global__ void worklist(const int *in, int *out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    if (in[i] > 0) {
      unsigned mask = __activemask(), lane = threadIdx.x & 31, base = 0;
      int leader = __ffs(mask) - 1;
      if (lane == leader)
        base = atomicAdd(&head, __popc(mask));
      base = __shfl_sync(mask, base, leader);
      out[base + __popc(mask & ((1u << lane) - 1))] = in[i];
    }
  }
}
