// A relaxed load whose value only a compare-and-swap of the same word takes: if it is old, that fails, and the word is looked at again.
// PTX: make_ptx.sh cuda_guesses.cu
#include <cuda/atomic>
using namespace cuda::std;

// Two spin locks of a byte, each in a word of its own: libcu++ makes a loop around a compare-and-swap of the word of each operation.
template <memory_order RELEASE> static __device__ void count(bool *locks, int *counts) {
#pragma unroll 1
  for (int i = 0; i < 4; i++) {
    int which = (blockIdx.x + i) % 2;
    cuda::atomic_ref<bool, cuda::thread_scope_device> lock(locks[4 * which]);
    while (lock.exchange(true, memory_order_acquire)) {
    }
    counts[which] += 1;
    lock.store(false, RELEASE);
  }
}
extern "C" __global__ void bool_locks(bool *locks, int *counts) { count<memory_order_release>(locks, counts); }
extern "C" __global__ void bool_locks_relaxed(bool *locks, int *counts) { count<memory_order_relaxed>(locks, counts); }

// Who has seen the flag counts up what was counted before it: in a loop, once, or by the place that the count says.
enum Way { LOOP, ONCE, PLACE };
template <Way WAY> static __device__ void count_behind_flag(unsigned *word, volatile unsigned *flag, unsigned *out) {
  if (blockIdx.x == 0) {
    atomicAdd(word, 1);
    *flag = 1;
    return;
  }
  while (*flag == 0) {
  }
  unsigned old = *(volatile unsigned *)word;
  if (WAY == PLACE)
    out[old] = 1;
  unsigned now = atomicCAS(word, old, old + 1);
  while (WAY != ONCE && now != old) {
    old = now;
    now = atomicCAS(word, old, old + 1);
  }
}
extern "C" __global__ void count_in_loop(unsigned *word, volatile unsigned *flag, unsigned *out) {
  count_behind_flag<LOOP>(word, flag, out);
}
extern "C" __global__ void count_once(unsigned *word, volatile unsigned *flag, unsigned *out) {
  count_behind_flag<ONCE>(word, flag, out);
}
extern "C" __global__ void count_place(unsigned *word, volatile unsigned *flag, unsigned *out) {
  count_behind_flag<PLACE>(word, flag, out);
}
