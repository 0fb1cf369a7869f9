// A hash table of linked lists with a lock for each bucket, under any kind of lock: hash_table.cu (words), hash_queue.cu (locks in the
// tags of L1 and L2). A bucket is {lock, head}. Node i belongs to operation i, and holds the one behind it in the list, as a number + 1;
// 0 ends a list.
#ifndef HASH_TABLE_CUH
#define HASH_TABLE_CUH

#include "inputs.cuh"
#include "locks.cuh"
using namespace inputs;

struct Bucket {
  Word lock, head;
};

struct Table {
  Bucket *buckets;
  Word *next;
  int places, pool, scattered; // buckets; elements; where they lie
  Word seed;
  __device__ __forceinline__ Word place(Word op) const {
    return place_of(key_of(seed, op, pool), places, scattered);
  }
  // A thread's operation `i` of `each`.
  __device__ __forceinline__ Word operation(int i, int each) const { return thread_number() * each + i; }
};

// Elements that are read, one for each operation, neighbours by neighbouring threads. The key is an element's first word.
struct ReadTable : Table {
  const Word *elements;
  int words; // of an element
  __device__ __forceinline__ Word place(Word op) const { return place_of(elements[op * words], places, scattered); }
  __device__ __forceinline__ Word operation(int i, int) const { return i * thread_count() + thread_number(); }
};

// `each` operations a thread. `touch` 0: the critical section leaves the list alone. `rounds` of arithmetic lengthen it.
template <class Lock, class Clock, class Elements>
static __device__ __forceinline__ void insert_all(Elements table, int each, int fence, int touch, int rounds, Clock clock) {
  __prof_trigger(0);
#pragma unroll 1
  for (int i = 0; i < each; i++) {
    Word op = table.operation(i, each), place = table.place(op);
    Bucket *bucket = &table.buckets[place];
    int done = 0;
    do {
      if (Lock::take(&bucket->lock, fence, clock)) {
        clock.taken(place);
        if (touch) {
          locks::put(&table.next[op], locks::look(&bucket->head));
          locks::put(&bucket->head, op + 1);
        }
        locks::work(rounds);
        clock.frees(place);
        __threadfence();
        Lock::free(&bucket->lock);
        done = 1;
      }
      locks::join(done);
    } while (!done);
  }
  clock.finish();
  __prof_trigger(1);
}

// The check: a thread for each operation. Whose node is the first of its list follows the list. Nodes of a list all belong to its
// bucket, so no two lists share one; each list ends; then all nodes are there once if as many were met as inserted.
// `result`: nodes met; nodes of a wrong bucket; lists without end; locks that are still held.
template <class Elements>
static __device__ __forceinline__ void check_all(Elements table, int each, int operations, Word *result) {
#pragma unroll 1
  for (int i = 0; i < each; i++) {
    Word op = table.operation(i, each), place = table.place(op);
    Bucket bucket = table.buckets[place];
    if (bucket.head != op + 1)
      continue;
    int met = 0, wrong = 0;
    Word node = bucket.head;
#pragma unroll 1
    for (; node && node <= (Word)operations && met < operations; node = table.next[node - 1], met++)
      wrong += table.place(node - 1) != place;
    atomicAdd(&result[0], met);
    if (wrong)
      atomicAdd(&result[1], wrong);
    if (node)
      atomicAdd(&result[2], 1);
    if (bucket.lock)
      atomicAdd(&result[3], 1);
  }
}

#endif
