// Read-copy-update: block 0 puts a new version into the other slot, and waits until no reader is in the old one before it
// overwrites that. A lane for each reader waits, all of them in one loop.
#include <cuda/atomic>

using Word = cuda::atomic<unsigned, cuda::thread_scope_device>;
enum { VERSION_WORDS = 4, UPDATES = 3, NO_MORE = 0xffffffff };

static __device__ void write_versions(Word *current, Word *epoch, Word *seen, unsigned *versions) {
  unsigned t = threadIdx.x;
  for (unsigned update = 1; update <= UPDATES; update++) {
    if (t < VERSION_WORDS)
      versions[(update & 1) * VERSION_WORDS + t] = update;
    __syncthreads();
    if (t == 0) {
      current->store(update & 1, cuda::memory_order_release);
      epoch->store(update, cuda::memory_order_release);
      cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    }
    __syncthreads();
    for (unsigned reader = 1 + t; reader < gridDim.x; reader += blockDim.x)
      for (;;) {
        unsigned entered = seen[reader].load(cuda::memory_order_acquire); // 0: outside
        if (entered == 0 || entered > update)
          break;
      }
    __syncthreads();
  }
  if (t == 0)
    epoch->store(NO_MORE, cuda::memory_order_release);
}

template <bool FENCE>
static __device__ void read_versions(Word *current, Word *epoch, Word *seen, unsigned *versions, unsigned *bad) {
  unsigned t = threadIdx.x, wrong = 0;
  for (;;) {
    unsigned now = 0, which = 0;
    if (t == 0) {
      now = epoch->load(cuda::memory_order_acquire);
      seen[blockIdx.x].store(now + 1, cuda::memory_order_release);
      if (FENCE)
        cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    }
    now = __shfl_sync(0xffffffff, now, 0);
    if (now == NO_MORE)
      break;
    if (t == 0)
      which = current->load(cuda::memory_order_acquire);
    which = __shfl_sync(0xffffffff, which, 0);
    __syncwarp();
    unsigned first = versions[which * VERSION_WORDS];
    if (t < VERSION_WORDS)
      wrong += versions[which * VERSION_WORDS + t] != first;
    __syncwarp();
    if (t == 0)
      seen[blockIdx.x].store(0, cuda::memory_order_release);
  }
  if (wrong)
    atomicAdd(bad, wrong);
}

template <bool FENCE>
static __device__ void update_and_read(Word *current, Word *epoch, Word *seen, unsigned *versions, unsigned *bad) {
  if (blockIdx.x == 0)
    write_versions(current, epoch, seen, versions);
  else
    read_versions<FENCE>(current, epoch, seen, versions, bad);
}

extern "C" __global__ void rcu(Word *current, Word *epoch, Word *seen, unsigned *versions, unsigned *bad) {
  update_and_read<true>(current, epoch, seen, versions, bad);
}
extern "C" __global__ void rcu_unfenced(Word *current, Word *epoch, Word *seen, unsigned *versions, unsigned *bad) {
  update_and_read<false>(current, epoch, seen, versions, bad);
}
