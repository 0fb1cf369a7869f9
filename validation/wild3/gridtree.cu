// Barriers of the grid: a tournament with fixed winners, a butterfly of pairs, and one word whose highest bit turns, as cooperative groups have it.
#include "../wild/util.cuh"
__device__ __forceinline__ u32 check(const u32 *cells, int r) {
  u32 other = (blockIdx.x + 1 + threadIdx.x) % gridDim.x;
  return ((volatile const u32 *)cells)[(r & 1) * gridDim.x + other] != r + other;
}
__device__ __forceinline__ void wait_for(u32 *flag, u32 value) {
  while (*(volatile u32 *)flag != value) ;
  __threadfence();
}
__device__ __forceinline__ void tell(u32 *flag, u32 value) {
  __threadfence();
  *(volatile u32 *)flag = value;
}
__global__ void tournament(u32 *arrive, u32 *wake, u32 *cells, int rounds, u32 *bad) { // 16 flags a block in arrive, 1 in wake
  u32 b = blockIdx.x, n = gridDim.x, wrong = 0;
  for (int r = 1; r <= rounds; r++) {
    if (threadIdx.x == 0) {
      cells[(r & 1) * n + b] = r + b;
      int k = 0;
      for (; 1u << k < n; k++) {
        if (b >> k & 1) { // lost: tell the winner
          tell(&arrive[(b - (1 << k)) * 16 + k], r);
          break;
        }
        if (b + (1 << k) < n) wait_for(&arrive[b * 16 + k], r);
      }
      if (b) wait_for(&wake[b * 16], r);
      for (k--; k >= 0; k--)
        if (b + (1 << k) < n) tell(&wake[(b + (1 << k)) * 16], r);
    }
    __syncthreads();
    wrong += check(cells, r);
    __syncthreads();
  }
  if (wrong) atomicAdd(bad, wrong);
}
__global__ void butterfly(u32 *flags, u32 *cells, int rounds, u32 *bad) { // a power of two of blocks
  u32 b = blockIdx.x, n = gridDim.x, wrong = 0;
  for (int r = 1; r <= rounds; r++) {
    if (threadIdx.x == 0) {
      cells[(r & 1) * n + b] = r + b;
      for (u32 k = 0, bit = 1; bit < n; k++, bit *= 2) {
        aref<u32>(flags[k * n + (b ^ bit)]).store(r, memory_order_release);
        while (aref<u32>(flags[k * n + b]).load(memory_order_acquire) < r) ;
      }
    }
    __syncthreads();
    wrong += check(cells, r);
    __syncthreads();
  }
  if (wrong) atomicAdd(bad, wrong);
}
__global__ void turnbit(u32 *word, u32 *cells, int rounds, int work, u32 *bad) {
  u32 wrong = 0, x = threadIdx.x;
  for (int r = 1; r <= rounds; r++) {
#pragma unroll 1
    for (int w = 0; w < work * (blockIdx.x % 4); w++) x = x * 5 + 1;
    if (threadIdx.x == 0) cells[(r & 1) * gridDim.x + blockIdx.x] = r + blockIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      u32 add = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;
      u32 old = atomicAdd(word, add);
      while (!((old ^ *(volatile u32 *)word) & 0x80000000u)) ;
      __threadfence();
    }
    __syncthreads();
    wrong += check(cells, r);
  }
  if (wrong) atomicAdd(bad, wrong);
  if (x == 12345) bad[1] = 1;
}
