// Pairs of blocks (b and b + gridDim / 2) hand a message of `words` words to and fro.
#include "util.cuh"
__global__ void pingpong(u32 *flags, u32 *box, int words, int rounds, u32 *bad) {
  int half = gridDim.x / 2, pair = blockIdx.x % half, side = blockIdx.x / half;
  u32 *mine = box + (2 * pair + side) * 256, *other = box + (2 * pair + 1 - side) * 256, wrong = 0;
  cuda::atomic_ref<u32, cuda::thread_scope_device> to(flags[(2 * pair + 1 - side) * 32]), from(flags[(2 * pair + side) * 32]);
  for (int r = 1; r <= rounds; r++) {
    if (side == 0) {
      for (int i = threadIdx.x; i < words; i += blockDim.x) mine[i] = r * 3 + i;
      __syncthreads();
      if (threadIdx.x == 0) {
        to.store(r, memory_order_release);
        while (from.load(memory_order_acquire) < r) ;
      }
      __syncthreads();
      for (int i = threadIdx.x; i < words; i += blockDim.x) wrong += other[i] != r * 3 + i + 1;
    } else {
      if (threadIdx.x == 0) while (from.load(memory_order_acquire) < r) ;
      __syncthreads();
      for (int i = threadIdx.x; i < words; i += blockDim.x) mine[i] = other[i] + 1;
      __syncthreads();
      if (threadIdx.x == 0) to.store(r, memory_order_release);
    }
  }
  if (wrong) atomicAdd(bad, wrong);
}
