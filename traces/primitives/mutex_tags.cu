// lock() and unlock() of benchmarks.cu on a machine whose locks live in the tags of L1 and L2 (sim/memory/lock_queue.h).
// PTX: make_ptx.sh mutex_tags.cu
extern "C" __device__ int __lock_acquire(unsigned *lock);
extern "C" __device__ void __lock_release(unsigned *lock);

static __device__ __forceinline__ void lock(unsigned *word, int fences) {
#pragma unroll 1
  while (!__lock_acquire(word))
    ;
  if (fences)
    __threadfence();
}
static __device__ __forceinline__ void unlock(unsigned *word, int fences) {
  if (fences)
    __threadfence();
  __lock_release(word);
}

// `ops` operations a block, of one of its threads.
extern "C" __global__ void mutex_tags(unsigned *word, int ops, int fences) {
  if (threadIdx.x)
    return;
#pragma unroll 4
  for (int op = 0; op < ops; op++) {
    lock(word, fences);
    unlock(word, fences);
  }
}
extern "C" __global__ void section_mutex_tags(unsigned *word, unsigned *counter, int ops) {
  if (threadIdx.x)
    return;
  for (int op = 0; op < ops; op++) {
    lock(word, 1);
    *(volatile unsigned *)counter += 1;
    unlock(word, 1);
  }
}
