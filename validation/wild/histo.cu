// Histograms: shared bins added to the global ones, and global bins directly. `skew`: so many 256ths of the items fall in bin 0.
#include "util.cuh"
__global__ void hist_shared(const u32 *in, u32 words, u32 n, u32 skew, u32 *bins, u32 count) {
  extern __shared__ u32 local[];
  for (u32 b = threadIdx.x; b < count; b += blockDim.x) local[b] = 0;
  __syncthreads();
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    u32 v = in[i & (words - 1)];
    atomicAdd(&local[v % 256 < skew ? 0 : (v / 256) % count], 1);
  }
  __syncthreads();
  for (u32 b = threadIdx.x; b < count; b += blockDim.x)
    if (local[b]) atomicAdd(&bins[b], local[b]);
}
__global__ void hist_global(const u32 *in, u32 words, u32 n, u32 skew, u32 *bins, u32 count) {
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    u32 v = in[i & (words - 1)];
    atomicAdd(&bins[v % 256 < skew ? 0 : (v / 256) % count], 1);
  }
}
