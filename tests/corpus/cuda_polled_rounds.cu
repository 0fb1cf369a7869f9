// Whole warps that poll under a lock as traces/client_server/batches.cuh sends step by step: who is looked after first goes round.
// PTX: traces/make_ptx.sh cuda_polled_rounds.cu

enum { LOCK, TAIL, TAKEN };

static __device__ __forceinline__ int look(int *word) { return *(volatile int *)word; }
static __device__ __forceinline__ bool take_lock(int *words) {
  int taken = threadIdx.x % 32 == 0 && atomicCAS(&words[LOCK], 0, 1) == 0;
  taken = __shfl_sync(~0u, taken, 0);
  __threadfence();
  return taken;
}
static __device__ __forceinline__ void give_lock(int *words) {
  __threadfence();
  __syncwarp();
  if (threadIdx.x % 32 == 0)
    atomicExch(&words[LOCK], 0);
  __syncwarp();
}

// Each lane takes one piece of work, one lane a round. `bring`: in so many rounds comes one in which a warp brings work itself.
template <unsigned bring> static __device__ __forceinline__ void take_in_rounds(int *words) {
  unsigned waits = ~0u, round = blockIdx.x;
  while (waits) {
    unsigned shift = round++ % 32, next = (__ffs(__funnelshift_r(waits, waits, shift)) - 1 + shift) % 32;
    unsigned number = __shfl_sync(~0u, threadIdx.x, next);
    if (!take_lock(words))
      continue;
    if (bring && round % bring == bring - 1 && threadIdx.x % 32 == 0)
      *(volatile int *)&words[TAIL] = 1 << 20;
    __threadfence();
    bool has = look(&words[TAIL]) > look(&words[TAKEN]);
    __syncwarp();
    if (has && threadIdx.x == number)
      *(volatile int *)&words[TAKEN] = look(&words[TAKEN]) + 1;
    waits = __ballot_sync(~0u, waits >> threadIdx.x % 32 & 1 && !(has && threadIdx.x == number));
    give_lock(words);
  }
}

extern "C" __global__ void rounds(int *words) { take_in_rounds<0>(words); }
extern "C" __global__ void rounds_bring(int *words) { take_in_rounds<1024>(words); }
