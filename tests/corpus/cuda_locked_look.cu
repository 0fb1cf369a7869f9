// Warps look at a word under a lock in shared memory, which one lane of each takes for its warp. The lock comes back, and a
// schedule may well never have two of them there at once.
// PTX: see make_ptx.sh.
static __device__ __forceinline__ unsigned first(unsigned value) { return __shfl_sync(~0u, value, 0); }

// The word is set by a block of the same launch that comes later, or by none.
extern "C" __global__ void look_locked(volatile unsigned *word, unsigned *sum) {
  __shared__ unsigned busy, looks;
  unsigned lane = threadIdx.x % 32;
  if (threadIdx.x == 0)
    busy = looks = 0;
  __syncthreads();
  if (blockIdx.x == gridDim.x - 1 && gridDim.x > 1) { // tells the others
    if (threadIdx.x == 0) {
      __threadfence();
      *word = 1;
    }
    return;
  }
  bool ready = false;
  do {
    if (first(lane == 0 ? atomicExch(&busy, 1) : 0))
      continue;
    __threadfence_block();
    ready = first(*word);
    if (lane == 0)
      looks = ready; // what the lock guards
    __threadfence_block();
    __syncwarp();
    if (lane == 0)
      atomicExch(&busy, 0);
  } while (!__any_sync(~0u, ready));
  if (lane == 0)
    atomicAdd(sum, 1);
}
