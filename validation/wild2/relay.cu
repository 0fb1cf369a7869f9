// One-to-one rings: block 2p sends rows of blockDim.x words to block 2p + 1 through `capacity` slots. Head and tail by cuda::atomic_ref, or as volatile
// words with __threadfence().
#include "../wild/util.cuh"
__global__ void relay_ref(u32 *ends, u32 *ring, u32 capacity, int items, u32 *sum) {
  u32 pair = blockIdx.x / 2, n = blockDim.x, t = threadIdx.x, total = 0;
  aref<u32> head(ends[pair * 64]), tail(ends[pair * 64 + 32]);
  u32 *mine = ring + pair * capacity * n;
  for (u32 i = 0; i < items; i++) {
    u32 *row = mine + i % capacity * n;
    if (blockIdx.x % 2 == 0) {
      if (t == 0) while (i - tail.load(memory_order_acquire) >= capacity) ;
      __syncthreads();
      row[t] = i + t;
      __syncthreads();
      if (t == 0) head.store(i + 1, memory_order_release);
    } else {
      if (t == 0) while (head.load(memory_order_acquire) <= i) ;
      __syncthreads();
      total += row[t];
      __syncthreads();
      if (t == 0) tail.store(i + 1, memory_order_release);
    }
  }
  if (total) atomicAdd(sum, total);
}
__global__ void relay_fence(volatile u32 *ends, volatile u32 *ring, u32 capacity, int items, u32 *sum) {
  u32 pair = blockIdx.x / 2, n = blockDim.x, t = threadIdx.x, total = 0;
  volatile u32 *head = ends + pair * 64, *tail = head + 32, *mine = ring + pair * capacity * n;
  for (u32 i = 0; i < items; i++) {
    volatile u32 *row = mine + i % capacity * n;
    if (blockIdx.x % 2 == 0) {
      if (t == 0) { while (i - *tail >= capacity) ; __threadfence(); }
      __syncthreads();
      row[t] = i + t;
      __threadfence();
      __syncthreads();
      if (t == 0) *head = i + 1;
    } else {
      if (t == 0) { while (*head <= i) ; __threadfence(); }
      __syncthreads();
      total += row[t];
      __threadfence();
      __syncthreads();
      if (t == 0) *tail = i + 1;
    }
  }
  if (total) atomicAdd(sum, total);
}
