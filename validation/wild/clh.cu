// CLH lock, fences and volatile as before C++ atomics. Node i belongs to block i at first, node gridDim.x is free.
#include "util.cuh"
__global__ void clh(u32 *tail, volatile u32 *nodes, volatile u32 *data, int each) {
  if (threadIdx.x) return;
  u32 mine = blockIdx.x;
  for (int i = 0; i < each; i++) {
    nodes[mine * 32] = 1;
    __threadfence();
    u32 pred = atomicExch(tail, mine);
    while (nodes[pred * 32]) ;
    __threadfence();
    data[0] = data[0] + 1;
    __threadfence();
    nodes[mine * 32] = 0;
    mine = pred;
  }
}
