// Threads store a tile, and one of them copies it in bulk: the only fence between the two kinds of access is that of the thread that copies, behind the barrier
// that orders the stores before the copy, or before it, where it covers what that thread has stored itself and nothing else.
// PTX: nvcc -ptx -lineinfo -arch=sm_90, with the bare file name.
static __device__ __forceinline__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
static __device__ __forceinline__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
static __device__ __forceinline__ void copy(void *to, const void *from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(at(from)), "r"(bytes) : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

extern "C" __global__ void block_copy(int *out, int early) {
  __shared__ __align__(128) int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0 && early)
    fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    if (!early)
      fence();
    copy(out, tile, sizeof tile);
  }
}

extern "C" __global__ void warp_copy(int *out, int early) {
  __shared__ __align__(128) int tile[32];
  tile[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0 && early)
    fence();
  __syncwarp();
  if (threadIdx.x == 0) {
    if (!early)
      fence();
    copy(out, tile, sizeof tile);
  }
}

// By a flag: the other warp is told that the tile is there.
extern "C" __global__ void told_copy(int *out, int early) {
  __shared__ __align__(128) int tile[32];
  __shared__ volatile int flag;
  if (threadIdx.x == 0)
    flag = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    tile[threadIdx.x] = threadIdx.x;
    __syncwarp();
    __threadfence_block();
    if (threadIdx.x == 0)
      flag = 1;
  }
  if (threadIdx.x == 32) {
    if (early)
      fence();
    while (flag == 0)
      ;
    __threadfence_block();
    if (!early)
      fence();
    copy(out, tile, sizeof tile);
  }
}
