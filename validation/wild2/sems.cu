// Semaphores: cuda::binary_semaphore in global and shared memory, cuda::counting_semaphore, and a counting one made by hand.
#include <cuda/semaphore>
#include "../wild/util.cuh"
using binary = cuda::binary_semaphore<cuda::thread_scope_device>;
using counting = cuda::counting_semaphore<cuda::thread_scope_device, 100000>;
using local = cuda::binary_semaphore<cuda::thread_scope_block>;
__global__ void make_binary(binary *s, int n, int stride) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) new (&s[i * stride]) binary(1);
}
__global__ void make_counting(counting *s, int permits) { new (s) counting(permits); }
// One thread of each warp takes one of n semaphores.
__global__ void binsem(binary *s, int n, int stride, u32 *data, int each) {
  if (threadIdx.x % 32) return;
  u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  for (int i = 0; i < each; i++) {
    u32 which = mix(warp * each + i) % n;
    s[which * stride].acquire();
    data[which * 8] += 1;
    s[which * stride].release();
  }
}
// Warps of a block take turns at shared memory: all lanes of the warp that holds it add to a word each.
__global__ void blocksem(u32 *out, int each) {
  __shared__ alignas(8) char store[sizeof(local)];
  __shared__ u32 sums[32];
  local *s = (local *)store;
  u32 lane = threadIdx.x % 32;
  if (threadIdx.x < 32) sums[threadIdx.x] = 0;
  if (threadIdx.x == 0) new (s) local(1);
  __syncthreads();
  for (int i = 0; i < each; i++) {
    if (lane == 0) s->acquire();
    __syncwarp();
    sums[lane] += lane + i;
    __syncwarp();
    if (lane == 0) s->release();
    __syncwarp();
  }
  __syncthreads();
  if (threadIdx.x < 32) atomicAdd(out, sums[threadIdx.x]);
}
// At most `permits` blocks copy a piece of memory at a time.
__device__ __forceinline__ void section(const u32 *in, u32 *out, int words) {
  for (int w = threadIdx.x; w < words; w += blockDim.x) out[blockIdx.x * words + w] = in[blockIdx.x * words + w] + 1;
}
__global__ void limit_std(counting *s, const u32 *in, u32 *out, int words, int each) {
  for (int i = 0; i < each; i++) {
    if (threadIdx.x == 0) s->acquire();
    __syncthreads();
    section(in, out, words);
    __syncthreads();
    if (threadIdx.x == 0) s->release();
  }
}
__global__ void limit_hand(int *available, const u32 *in, u32 *out, int words, int each, int sleep) {
  for (int i = 0; i < each; i++) {
    if (threadIdx.x == 0)
      for (;;) {
        int seen = *(volatile int *)available;
        if (seen > 0 && atomicCAS(available, seen, seen - 1) == seen) break;
        if (sleep) __nanosleep(sleep);
      }
    __syncthreads();
    section(in, out, words);
    __syncthreads();
    if (threadIdx.x == 0) { __threadfence(); atomicAdd(available, 1); }
  }
}
