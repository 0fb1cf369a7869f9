// Blocks in order: CUTLASS's semaphore for split-K, stream-K's parts that the owner of a tile waits for, and a scan whose blocks wait for the one before.
#include "../wild/util.cuh"
struct Semaphore { // cutlass/semaphore.h
  int *lock, state;
  bool wait_thread;
  __device__ Semaphore(int *lock, int thread) : lock(lock), state(-1), wait_thread(thread <= 0) {}
  __device__ void fetch() {
    if (wait_thread) asm volatile("ld.global.acquire.gpu.b32 %0, [%1];\n" : "=r"(state) : "l"(lock) : "memory");
  }
  __device__ void wait(int status) {
    while (__syncthreads_and(state != status)) fetch();
    __syncthreads();
  }
  __device__ void release(int status) {
    __syncthreads();
    if (wait_thread) asm volatile("st.global.release.gpu.b32 [%0], %1;\n" : : "l"(lock), "r"(status) : "memory");
  }
};
__global__ void splitk(const u32 *in, u32 *out, int *locks, int slices) { // blocks: tiles * slices
  int tile = blockIdx.x / slices, slice = blockIdx.x % slices, n = blockDim.x;
  u32 acc = 0;
  for (int k = 0; k < 8; k++) acc += in[(blockIdx.x * 8 + k) * n + threadIdx.x];
  Semaphore semaphore(&locks[tile], threadIdx.x);
  semaphore.fetch();
  semaphore.wait(slice);
  if (slice) acc += out[tile * n + threadIdx.x];
  out[tile * n + threadIdx.x] = acc;
  semaphore.release(slice + 1 == slices ? 0 : slice + 1);
}
// Each block works on `share` steps of tiles of `steps` steps; who has a tile's first step adds the parts of the others.
__global__ void streamk(const u32 *in, u32 *parts, u32 *flags, u32 *out, int tiles, int steps, int share) {
  int n = blockDim.x, at = blockIdx.x * share, end = min(at + share, tiles * steps);
  while (at < end) {
    int tile = at / steps, first = at % steps, last = min(steps, first + end - at);
    u32 acc = 0;
    for (int k = first; k < last; k++) acc += in[(tile * steps + k) * n + threadIdx.x] * 3;
    at += last - first;
    if (first) {
      parts[blockIdx.x * n + threadIdx.x] = acc;
      __threadfence();
      __syncthreads();
      if (threadIdx.x == 0) atomicExch(&flags[blockIdx.x], 1);
    } else {
      for (int peer = blockIdx.x + 1; peer * share < (tile + 1) * steps; peer++) {
        if (threadIdx.x == 0) while (atomicCAS(&flags[peer], 1, 1) != 1) ;
        __syncthreads();
        __threadfence();
        acc += ((volatile u32 *)parts)[peer * n + threadIdx.x];
      }
      out[tile * n + threadIdx.x] = acc;
    }
  }
}
__global__ void streamscan(const u32 *in, u32 *out, u32 *sums, u32 *flags) { // flags[b]: sums[b] has all before block b
  __shared__ u32 s[32], before;
  u32 t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * blockDim.x + t, x = in[i];
  for (int d = 1; d < 32; d *= 2) {
    u32 y = __shfl_up_sync(~0u, x, d);
    if (lane >= d) x += y;
  }
  if (lane == 31) s[warp] = x;
  __syncthreads();
  if (warp == 0) {
    u32 w = lane < blockDim.x / 32 ? s[lane] : 0;
    for (int d = 1; d < 32; d *= 2) {
      u32 y = __shfl_up_sync(~0u, w, d);
      if (lane >= d) w += y;
    }
    s[lane] = w;
  }
  __syncthreads();
  if (t == 0) {
    u32 prefix = 0;
    if (blockIdx.x) {
      while (atomicAdd(&flags[blockIdx.x], 0) == 0) ;
      __threadfence();
      prefix = ((volatile u32 *)sums)[blockIdx.x];
    }
    if (blockIdx.x + 1 < gridDim.x) {
      sums[blockIdx.x + 1] = prefix + s[blockDim.x / 32 - 1];
      __threadfence();
      atomicAdd(&flags[blockIdx.x + 1], 1);
    }
    before = prefix;
  }
  __syncthreads();
  out[i] = before + x + (warp ? s[warp - 1] : 0);
}
