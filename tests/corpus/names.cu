// Waits whose name depends on who could make the awaited change once his own wait is over.

// Lane 0 waits for lane 1, which leaves its own loop by what it stores itself.
extern "C" __global__ void own_store(unsigned *x, unsigned *y, unsigned stride) {
  if (threadIdx.x == 0)
    while (atomicAdd(x, 0) == 0)
      ;
  if (threadIdx.x == stride) {
    while (atomicExch(y, 1) == 0)
      ;
    atomicExch(x, 1);
  }
  atomicAdd(x + 1, 1);
}

// Lane 0 waits for lane 1, which waits for lane 2 first. With `last` 0 nobody stores what lane 1 waits for.
extern "C" __global__ void chain(unsigned *x, unsigned *y, unsigned stride, unsigned last) {
  if (threadIdx.x == 0)
    while (atomicAdd(y, 0) == 0)
      ;
  if (threadIdx.x == stride) {
    while (atomicAdd(x, 0) == 0)
      ;
    atomicExch(y, 1);
  }
  if (threadIdx.x == 2 * stride && last)
    atomicExch(x, 1);
  atomicAdd(x + 1, 1);
}

// Lane 0 waits for a number that the others together would come to, if `wanted` is theirs.
extern "C" __global__ void count(unsigned *x, unsigned stride, unsigned wanted) {
  if (threadIdx.x == 0)
    while (atomicAdd(x, 0) != wanted)
      ;
  if (threadIdx.x >= stride && threadIdx.x % stride == 0)
    atomicAdd(x, 1);
  atomicAdd(x + 1, 1);
}

// Lane 0 waits for the host, and the host for lane 1.
extern "C" __global__ void by_host(unsigned *ask, volatile unsigned *answer, unsigned stride, unsigned asks) {
  if (threadIdx.x == 0)
    while (*answer == 0)
      ;
  if (threadIdx.x == stride && asks)
    atomicExch(ask, 1);
  atomicAdd(ask + 1, 1);
}

// A block stores behind a barrier of its own, at which it waits for a warp that waits for another block's signal.
extern "C" __global__ void behind_barrier(unsigned *x) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    while (atomicAdd(x, 0) == 0)
      ;
    atomicExch(x + 1, 1);
  }
  if (blockIdx.x == 1) {
    if (threadIdx.x == 0)
      while (atomicAdd(x + 1, 0) == 0)
        ;
    __syncthreads();
    if (threadIdx.x == 32)
      atomicExch(x, 1);
  }
}

// Each block waits for the next one.
extern "C" __global__ void next(unsigned *flag) {
  unsigned b = blockIdx.x;
  if (b < gridDim.x - 1)
    while (atomicAdd(flag + b + 1, 0) == 0)
      ;
  atomicExch(flag + b, 1);
}

// Each block waits for all behind it, in turn.
extern "C" __global__ void all_behind(unsigned *flag) {
  for (unsigned b = gridDim.x - 1; b > blockIdx.x; b--)
    while (atomicAdd(flag + b, 0) == 0)
      ;
  atomicExch(flag + blockIdx.x, 1);
}

// The lower half waits for the upper half, block by block.
extern "C" __global__ void halves(unsigned *flag) {
  unsigned half = gridDim.x / 2;
  if (blockIdx.x < half)
    while (atomicAdd(flag + blockIdx.x, 0) == 0)
      ;
  else
    atomicExch(flag + blockIdx.x - half, 1);
}

// The blocks before `below` wait for one that is anywhere in the grid, or for nobody.
extern "C" __global__ void one_of_many(unsigned *flag, unsigned below, unsigned which) {
  if (blockIdx.x < below)
    while (atomicAdd(flag, 0) == 0)
      ;
  if (blockIdx.x * blockDim.x + threadIdx.x == gridDim.x / 3 * blockDim.x * which)
    atomicExch(flag, 1);
}

// The blocks before `below` wait for signals that blocks send all over the place.
extern "C" __global__ void scattered(unsigned *flag, unsigned below, unsigned flags) {
  if (blockIdx.x < below)
    while (atomicAdd(flag + blockIdx.x, 0) == 0)
      ;
  else
    atomicExch(flag + blockIdx.x * 2654435761u % flags, 1);
}

// The number of the block goes through shared memory.
extern "C" __global__ void next_shared(unsigned *flag) {
  __shared__ unsigned number;
  if (threadIdx.x == 0)
    number = blockIdx.x;
  __syncthreads();
  if (threadIdx.x == 32) {
    if (number < gridDim.x - 1)
      while (atomicAdd(flag + number + 1, 0) == 0)
        ;
    atomicExch(flag + number, 1);
  }
}

// All wait for what nobody stores, and would store something else behind it.
extern "C" __global__ void forgotten(unsigned *flag, unsigned *out) {
  while (atomicAdd(flag, 0) == 0)
    ;
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// Lane 0 undoes its own store in each round, and would end if somebody else stored 0 in between.
extern "C" __global__ void undo(unsigned *x, unsigned stride, unsigned value) {
  if (threadIdx.x == 0)
    do
      atomicExch(x, 1);
    while (atomicExch(x, 0) == 1);
  if (threadIdx.x == stride)
    while (atomicExch(x, value) == 0)
      ;
  atomicAdd(x + 1, 1);
}

// The same, and the other warp would do that behind a barrier.
extern "C" __global__ void undo_before_barrier(unsigned *x) {
  if (threadIdx.x == 0)
    do
      atomicExch(x, 1);
    while (atomicExch(x, 0) == 1);
  __syncthreads();
  if (threadIdx.x == 32)
    atomicExch(x, 0);
}

// The resident blocks wait for 2. `last` of the blocks signal: with 1 nobody goes on, with 2 they would.
extern "C" __global__ void signal_value(volatile unsigned *x, unsigned last, unsigned value) {
  if (blockIdx.x >= gridDim.x - last)
    *x = value;
  else
    while (*x != 2)
      ;
}

// The last but one says 1, of which only the last makes 2.
extern "C" __global__ void signal_in_two_steps(volatile unsigned *x) {
  if (blockIdx.x == gridDim.x - 2) {
    *x = 1;
  } else if (blockIdx.x == gridDim.x - 1) {
    while (*x != 1)
      ;
    *x = 2;
  } else {
    while (*x != 2)
      ;
  }
}

// Each block has its turn after the one behind it, and the last begins.
extern "C" __global__ void turns_downwards(volatile unsigned *turn) {
  if (blockIdx.x < gridDim.x - 1)
    while (*turn != blockIdx.x + 1)
      ;
  *turn = blockIdx.x;
}

// One thread of a block takes a lock for all of it, and tells the others. Each block takes two locks: in one order, or not.
__device__ void take_for_block(int *lock) {
  __shared__ volatile int got;
  if (threadIdx.x == 0)
    got = 0;
  __syncthreads();
  while (!got) {
    __syncthreads();
    if (threadIdx.x == 0 && atomicCAS(lock, 0, 1) == 0)
      got = 1;
    __syncthreads();
  }
  __threadfence();
  __syncthreads();
}

extern "C" __global__ void masters(int *lock, int *out, int ordered) {
  int first = ordered ? 0 : blockIdx.x;
  take_for_block(&lock[first]);
  __nanosleep(10000);
  take_for_block(&lock[1 - first]);
  if (threadIdx.x)
    return;
  out[0]++;
  __threadfence();
  atomicExch(&lock[1 - first], 0);
  atomicExch(&lock[first], 0);
}
