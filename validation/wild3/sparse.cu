// Work in the order of its inputs: a triangular solve without barriers (Liu et al.: a warp a row, and Su et al.: a thread a row), and a graph of tasks whose
// inputs are counted down, with a queue of those that are ready.
#include "../wild/util.cuh"
// Row i reads rows i - 1 - mix % reach, `per` of them, that exist.
__device__ __forceinline__ int column(int i, int k, int reach) { return i - 1 - (int)(mix(i * 16 + k) % reach); }
__global__ void warp_rows(u32 *x, u32 *ready, int rows, int per, int reach) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (i >= rows) return;
  u32 sum = 0;
  for (int k = lane; k < per; k += 32) {
    int c = column(i, k, reach);
    if (c < 0) continue;
    while (*(volatile u32 *)&ready[c] == 0) ;
    __threadfence();
    sum += *(volatile u32 *)&x[c];
  }
  for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (lane == 0) {
    x[i] = sum % 1000 + 1;
    __threadfence();
    *(volatile u32 *)&ready[i] = 1;
  }
}
__global__ void thread_rows(u32 *x, u32 *ready, int rows, int per, int reach) { // never waits inside: looks again
  int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
  if (i >= rows) return;
  u32 sum = 0;
  for (;;) {
    int c = k < per ? column(i, k, reach) : -1;
    if (k < per && c < 0) { k++; continue; }
    if (k == per) {
      x[i] = sum % 1000 + 1;
      __threadfence();
      *(volatile u32 *)&ready[i] = 1;
      break;
    }
    if (*(volatile u32 *)&ready[c]) {
      __threadfence();
      sum += *(volatile u32 *)&x[c];
      k++;
    }
  }
}
// Tiles of a lower triangle: (r, c) needs (r - 1, c) if r > c, and (r, c - 1) if c.
__global__ void taskgraph(int side, u32 *needs, u32 *queue, u32 *head, u32 *tail, u32 *values, u32 *sum) {
  __shared__ u32 task;
  u32 all = side * (side + 1) / 2, total = 0;
  for (;;) {
    if (threadIdx.x == 0) {
      u32 at = atomicAdd(head, 1);
      task = ~0u;
      if (at < all) {
        while ((task = *(volatile u32 *)&queue[at]) == 0) ;
        __threadfence();
        task -= 1;
      }
    }
    __syncthreads();
    u32 now = task;
    __syncthreads();
    if (now == ~0u) break;
    int r = now / side, c = now % side, w = blockDim.x;
    u32 v = 1;
    if (r > c) v += ((volatile u32 *)values)[((r - 1) * side + c) * w + threadIdx.x];
    if (c) v += ((volatile u32 *)values)[(r * side + c - 1) * w + threadIdx.x];
    v %= 1000;
    values[now * w + threadIdx.x] = v;
    total += v;
    __threadfence();
    __syncthreads();
    if (threadIdx.x < 2) {
      int nr = r + (threadIdx.x == 0), nc = c + (threadIdx.x == 1);
      if (nr < side && nc <= nr) {
        u32 need = (nr > nc) + (nc > 0);
        if (atomicAdd(&needs[nr * side + nc], 1) + 1 == need) {
          __threadfence();
          u32 to = atomicAdd(tail, 1);
          *(volatile u32 *)&queue[to] = nr * side + nc + 1;
        }
      }
    }
  }
  atomicAdd(sum, total);
}
