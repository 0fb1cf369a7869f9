// Whole warps that take work out of a queue under a lock, which they try for with one lane and give back: the lock changes by turns while
// nobody brings work, and ballots say who takes what. PTX: traces/make_ptx.sh cuda_polled_queue.cu

enum { LOCK, HEAD, TAIL, TAKEN };
enum Ending { NOBODY, GIVES_UP, COUNTS };

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

// Each lane takes one piece of work.
template <Ending ending> static __device__ __forceinline__ void take_all(int *words, int tries) {
  bool done = false;
  int tried = 0;
  while (!__all_sync(~0u, done)) {
    if (ending != NOBODY)
      tried++;
    if (ending == GIVES_UP && tried > tries)
      return;
    if (!take_lock(words))
      continue;
    if (ending == COUNTS && tried >= tries)
      *(volatile int *)&words[TAIL] = 1 << 20;
    __threadfence();
    int head = look(&words[HEAD]), left = look(&words[TAIL]) - head;
    unsigned want = __ballot_sync(~0u, !done);
    int rank = __popc(want & ((1u << threadIdx.x % 32) - 1));
    __syncwarp();
    if (!done && rank < left) {
      atomicAdd(&words[TAKEN], 1);
      done = true;
    }
    if (threadIdx.x % 32 == 0)
      *(volatile int *)&words[HEAD] = head + min(__popc(want), left);
    give_lock(words);
  }
}

extern "C" __global__ void turns(int *words) { take_all<NOBODY>(words, 0); }
extern "C" __global__ void turns_gives_up(int *words, int tries) { take_all<GIVES_UP>(words, tries); }
extern "C" __global__ void turns_counts(int *words, int tries) { take_all<COUNTS>(words, tries); }

// Brings all work, late.
extern "C" __global__ void turns_bring(int *words, int pause) {
  for (int i = 0; i < pause; i++)
    __nanosleep(1000);
  while (!take_lock(words))
    ;
  if (threadIdx.x == 0)
    *(volatile int *)&words[TAIL] = 1 << 20;
  give_lock(words);
}
