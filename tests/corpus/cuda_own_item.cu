// A lane takes the next number for its warp (a thread for its block), and tells the others by a word of shared memory. They read it behind a barrier; without a
// second one behind that the number may be the next round's.
// PTX: traces/make_ptx.sh cuda_own_item.cu
template <bool again> __device__ __forceinline__ void warp_items(unsigned *next, unsigned *out, unsigned items) {
  __shared__ unsigned item[8];
  unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  while (true) {
    if (lane == 0)
      item[warp] = atomicAdd(next, 1);
    __syncwarp();
    unsigned mine = item[warp];
    if (again)
      __syncwarp();
    if (mine >= items)
      break;
    atomicAdd(&out[mine], lane);
  }
}
template <bool again> __device__ __forceinline__ void block_items(unsigned *next, unsigned *out, unsigned items) {
  __shared__ unsigned item;
  while (true) {
    if (threadIdx.x == 0)
      item = atomicAdd(next, 1);
    __syncthreads();
    unsigned mine = item;
    if (again)
      __syncthreads();
    if (mine >= items)
      break;
    atomicAdd(&out[mine], threadIdx.x);
  }
}

extern "C" __global__ void of_warp(unsigned *next, unsigned *out, unsigned items) { warp_items<true>(next, out, items); }
extern "C" __global__ void of_warp_once(unsigned *next, unsigned *out, unsigned items) { warp_items<false>(next, out, items); }
extern "C" __global__ void of_block(unsigned *next, unsigned *out, unsigned items) { block_items<true>(next, out, items); }
extern "C" __global__ void of_block_once(unsigned *next, unsigned *out, unsigned items) { block_items<false>(next, out, items); }
