// A hash table of linked lists with a lock for each bucket: threads insert elements of a pool (Listing 1 of Wang, Fussell and Lin,
// 2019). PTX: make_ptx.sh hash_table.cu
#include "hash_table.cuh"

// A lock is a word, as in the paper.
struct Words {
  template <class Clock> static __device__ __forceinline__ bool take(Word *lock, int fence, Clock &clock) {
    return locks::try_lock(lock, fence, clock);
  }
  static __device__ __forceinline__ void free(Word *lock) { locks::unlock(lock); }
};

extern "C" __global__ void insert(Table table, int each, int fence, int touch, int rounds) {
  insert_all<Words>(table, each, fence, touch, rounds, locks::Untimed::of(0, 0));
}
extern "C" __global__ void insert_timed(Table table, int each, int fence, int touch, int rounds, locks::Time *stamps,
                                        locks::Time *sums) {
  insert_all<Words>(table, each, fence, touch, rounds, locks::Timed::of(stamps, sums));
}
extern "C" __global__ void insert_read(ReadTable table, int each, int fence, int touch, int rounds) {
  insert_all<Words>(table, each, fence, touch, rounds, locks::Untimed::of(0, 0));
}

extern "C" __global__ void check(Table table, int each, int operations, Word *result) {
  check_all(table, each, operations, result);
}
extern "C" __global__ void check_read(ReadTable table, int each, int operations, Word *result) {
  check_all(table, each, operations, result);
}

extern "C" __global__ void say(const locks::Time *sums) { locks::say(sums); }
