// A lock taken by a whole warp: lane 0 spins, __syncwarp() lets the others in; all lanes work on the guarded data.
#include "util.cuh"
__global__ void warpspin(u32 *locks, u32 *data, u32 nlocks, int each) {
  u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  for (int i = 0; i < each; i++) {
    u32 which = mix(warp * 100 + i) % nlocks;
    if (lane == 0) {
      while (atomicCAS(&locks[which], 0, 1) != 0) __nanosleep(20);
      __threadfence();
    }
    __syncwarp();
    data[which * 32 + lane] += 1;
    u32 v = lane;
    __syncwarp();
    v = __shfl_xor_sync(~0u, v, 1);
    if (v >= 32) return;
    if (lane == 0) {
      __threadfence();
      atomicExch(&locks[which], 0);
    }
    __syncwarp();
  }
}
