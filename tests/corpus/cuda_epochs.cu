// Who reads a pair of words says so first, by an odd count of its own. The writer puts a new pair beside the old one, and waits for those that
// may still read that before it takes its place again. PTX: traces/make_ptx.sh cuda_epochs.cu
#include <cuda/atomic>

using cuda::memory_order_acquire;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;
using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;

static __device__ void fence() { cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device); }

template <bool WAITS> static __device__ void write(int *newest, int *count, int *pair, int rounds) {
  Word place(*newest);
  for (int i = 1; i <= rounds; i++) {
    int other = place.load(memory_order_relaxed) ^ 2;
    pair[other] = i;
    pair[other + 1] = -i;
    place.store(other, memory_order_release);
    fence();
    for (int reader = 1; WAITS && reader < (int)gridDim.x; reader++) {
      Word reads(count[reader]);
      int seen = reads.load(memory_order_acquire);
      while (seen % 2 && reads.load(memory_order_acquire) == seen) {
      }
    }
  }
}
template <bool FENCE> static __device__ void read(int *newest, int *count, const int *pair, int *torn, int rounds) {
  Word reads(count[blockIdx.x]);
  for (int i = 0; i < rounds; i++) {
    reads.store(2 * i + 1, memory_order_relaxed);
    if (FENCE)
      fence();
    int place = Word(*newest).load(memory_order_acquire);
    if (pair[place] + pair[place + 1])
      atomicAdd(torn, 1);
    reads.store(2 * i + 2, memory_order_release);
  }
}
extern "C" __global__ void epochs(int *newest, int *count, int *pair, int *torn, int rounds) {
  if (blockIdx.x == 0)
    write<true>(newest, count, pair, rounds);
  else
    read<true>(newest, count, pair, torn, rounds);
}
extern "C" __global__ void epochs_unwaited(int *newest, int *count, int *pair, int *torn, int rounds) {
  if (blockIdx.x == 0)
    write<false>(newest, count, pair, rounds);
  else
    read<true>(newest, count, pair, torn, rounds);
}
extern "C" __global__ void epochs_unfenced(int *newest, int *count, int *pair, int *torn, int rounds) {
  if (blockIdx.x == 0)
    write<true>(newest, count, pair, rounds);
  else
    read<false>(newest, count, pair, torn, rounds);
}
