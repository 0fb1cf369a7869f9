// The hash table of hash_table.cu on a machine whose locks live in the tags of L1 and L2 (sim/memory/lock_queue.h).
// PTX: make_ptx.sh hash_queue.cu
#include "hash_table.cuh"

extern "C" __device__ int __lock_acquire(Word *lock);
extern "C" __device__ void __lock_release(Word *lock);

struct Tags {
  template <class Clock> static __device__ __forceinline__ bool take(Word *lock, int fence, Clock &clock) {
    if (!__lock_acquire(lock))
      return false;
    clock.has_lock();
    if (fence)
      __threadfence();
    return true;
  }
  static __device__ __forceinline__ void free(Word *lock) { __lock_release(lock); }
};

extern "C" __global__ void insert(Table table, int each, int fence, int touch, int rounds) {
  insert_all<Tags>(table, each, fence, touch, rounds, locks::Untimed::of(0, 0));
}

extern "C" __global__ void check(Table table, int each, int operations, Word *result) {
  check_all(table, each, operations, result);
}
