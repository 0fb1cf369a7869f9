// Ticket lock by atomicAdd() and volatile loads around some 4 * steps instructions that depend on each other; as many `outside` of it.
#include "../wild/util.cuh"
__device__ __forceinline__ u32 chew(u32 x, int steps) {
#pragma unroll 1
  for (int i = 0; i < steps; i++) { x = x * 1664525u + 1013904223u; x ^= x >> 13; }
  return x;
}
__global__ void longlock(u32 *next, volatile u32 *serving, volatile u32 *data, int each, int steps, int outside, int sleep, u32 *sink) {
  if (threadIdx.x % 32) return;
  u32 mine = threadIdx.x + blockIdx.x;
  for (int i = 0; i < each; i++) {
    mine = chew(mine, outside);
    u32 turn = atomicAdd(next, 1), now;
    while ((now = *serving) != turn)
      if (sleep) __nanosleep(sleep * (turn - now));
    __threadfence();
    data[0] = chew(data[0], steps);
    data[1] = data[1] + 1;
    __threadfence();
    *serving = turn + 1;
  }
  if (mine == 12345) *sink = mine;
}
