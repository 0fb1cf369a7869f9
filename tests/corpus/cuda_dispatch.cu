// Blocks that wait for each other: which may rely on the order in which they are dispatched. Each block takes so much shared
// memory that not all of the grid are resident.
__device__ int tickets;

// Block b waits for the sum of block b - 1, by its index.
extern "C" __global__ void chain_by_index(volatile int *sum, volatile int *ready) {
  int b = blockIdx.x, before = 0;
  if (threadIdx.x != 0)
    return;
  if (b > 0) {
    while (ready[b - 1] == 0)
      ;
    __threadfence();
    before = sum[b - 1];
  }
  sum[b] = before + b;
  __threadfence();
  ready[b] = 1;
}

// The same with a number that the block takes when it starts.
extern "C" __global__ void chain_by_ticket(volatile int *sum, volatile int *ready) {
  if (threadIdx.x != 0)
    return;
  int b = atomicAdd(&tickets, 1), before = 0;
  if (b > 0) {
    while (ready[b - 1] == 0)
      ;
    __threadfence();
    before = sum[b - 1];
  }
  sum[b] = before + b;
  __threadfence();
  ready[b] = 1;
}

// The last block to run is taken to be the one with the highest index: nothing hangs, the result is wrong.
extern "C" __global__ void last_by_index(int *sum, volatile int *result) {
  if (threadIdx.x != 0)
    return;
  atomicAdd(sum, 1);
  __threadfence();
  if (blockIdx.x == gridDim.x - 1)
    *result = atomicAdd(sum, 0) > gridDim.x / 2;
}

extern "C" __global__ void last_by_ticket(int *sum, volatile int *result) {
  if (threadIdx.x != 0)
    return;
  if (atomicAdd(sum, 1) == gridDim.x - 1)
    *result = atomicAdd(sum, 0) > gridDim.x / 2;
}
