// A pool of nodes as a stack: its head is tag << 32 | node + 1. First all are pushed, then threads (or one of each warp) take one and give it back `each`
// times, then all are popped.
#include "../wild/util.cuh"
__device__ __forceinline__ void push(u64 *head, u32 *next, u32 node) {
  aref<u64> h(*head);
  u64 old = h.load(memory_order_relaxed);
  do aref<u32>(next[node]).store((u32)old, memory_order_relaxed);
  while (!h.compare_exchange_weak(old, ((old >> 32) + 1) << 32 | (node + 1), memory_order_release, memory_order_relaxed));
}
__device__ __forceinline__ u32 pop(u64 *head, u32 *next) { // ~0 if there is none
  aref<u64> h(*head);
  u64 old = h.load(memory_order_acquire), now;
  do {
    if (!(u32)old) return ~0u;
    now = ((old >> 32) + 1) << 32 | aref<u32>(next[(u32)old - 1]).load(memory_order_relaxed);
  } while (!h.compare_exchange_weak(old, now, memory_order_acquire, memory_order_acquire));
  return (u32)old - 1;
}
__global__ void push_all(u64 *head, u32 *next, int lanes) {
  u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t % 32 < lanes) push(head, next, t / 32 * lanes + t % 32);
}
__global__ void cycle(u64 *head, u32 *next, u32 *used, int lanes, int each, u32 *none) {
  if (threadIdx.x % 32 >= lanes) return;
  for (int i = 0; i < each; i++) {
    u32 node = pop(head, next);
    if (node == ~0u) { atomicAdd(none, 1); continue; }
    used[node] += 1;
    push(head, next, node);
  }
}
__global__ void pop_all(u64 *head, u32 *next, u32 *popped, int lanes) {
  if (threadIdx.x % 32 >= lanes) return;
  u32 node = pop(head, next);
  if (node != ~0u) popped[node] = 1;
}
