// Histograms of products of `power` uniform numbers each: the more factors, the more fall into the low bins. Global bins, bins of the block in shared
// memory, bins of each warp there, and global bins with equal lanes counted together.
#include "../wild/util.cuh"
__device__ __forceinline__ u32 bin(u32 v, int power, u32 bins) {
  u32 u = v;
  for (int p = 1; p < power; p++) u = __umulhi(u, v);
  return __umulhi(u, bins);
}
__global__ void h_global(const u32 *in, u32 n, int power, u32 bins, u32 *out) {
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&out[bin(in[i], power, bins)], 1);
}
__global__ void h_block(const u32 *in, u32 n, int power, u32 bins, u32 *out) {
  extern __shared__ u32 counts[];
  for (u32 b = threadIdx.x; b < bins; b += blockDim.x) counts[b] = 0;
  __syncthreads();
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&counts[bin(in[i], power, bins)], 1);
  __syncthreads();
  for (u32 b = threadIdx.x; b < bins; b += blockDim.x) atomicAdd(&out[b], counts[b]);
}
__global__ void h_warp(const u32 *in, u32 n, int power, u32 bins, u32 *out) {
  extern __shared__ u32 counts[];
  u32 warps = blockDim.x / 32, *mine = counts + threadIdx.x / 32 * bins;
  for (u32 b = threadIdx.x; b < bins * warps; b += blockDim.x) counts[b] = 0;
  __syncthreads();
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[bin(in[i], power, bins)], 1);
  __syncthreads();
  for (u32 b = threadIdx.x; b < bins; b += blockDim.x) {
    u32 sum = 0;
    for (u32 w = 0; w < warps; w++) sum += counts[w * bins + b];
    if (sum) atomicAdd(&out[b], sum);
  }
}
__global__ void h_match(const u32 *in, u32 n, int power, u32 bins, u32 *out) {
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    u32 b = bin(in[i], power, bins), same = __match_any_sync(__activemask(), b);
    if (__ffs(same) - 1 == threadIdx.x % 32) atomicAdd(&out[b], __popc(same));
  }
}
