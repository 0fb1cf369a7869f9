// What critical sections under global locks are made of, as Listings 1 and 3 of Wang, Fussell and Lin (2019) have them: a lock is a
// word, 0 when free; try_lock() is one compare-and-swap; a plain store behind __threadfence() frees it.
#ifndef LOCKS_CUH
#define LOCKS_CUH

#include <stdio.h>

namespace locks {

using Word = unsigned;
using Time = unsigned long long;

static __device__ __forceinline__ Word look(const Word *word) { return *(const volatile Word *)word; }
static __device__ __forceinline__ void put(Word *word, Word value) { *(volatile Word *)word = value; }

// `fence`: the memory model of PTX needs it between the lock and the data; the paper's listings have none there.
template <class Clock> static __device__ __forceinline__ bool try_lock(Word *lock, int fence, Clock &clock) {
  if (atomicCAS(lock, 0, 1))
    return false;
  clock.has_lock();
  if (fence)
    __threadfence();
  return true;
}
static __device__ __forceinline__ void unlock(Word *lock) { put(lock, 0); }

// The end of a round of a loop over try_lock(), whose flag `value` says whether to go on: the compiler mustn't learn here what the flag
// is. nvcc for Volta and later would make a loop of the failing attempts alone, and the critical section the code behind it. On a GPU
// that reconverges by a stack the lanes with the lock would then wait for those without: the flag exists in order that they don't.
static __device__ __forceinline__ void join(int &value) { asm volatile("" : "+r"(value)); }

// Arithmetic that lengthens a critical section, and goes to no memory: each round depends on the one before it.
static __device__ __forceinline__ void work(int rounds) {
  float x = 1;
#pragma unroll 1
  for (int i = 0; i < rounds; i++)
    asm volatile("fma.rn.f32 %0, %0, 0f3F000000, 0f3F800000;" : "+f"(x));
}

static __device__ __forceinline__ Time now() {
  Time t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
  return t;
}

// Lock transfers as a program can measure them: whoever frees a lock leaves the time beside it, before the fence, since only there
// the next owner is sure to find it; the next owner subtracts. A thread adds up, and adds its sum to that of all at the end.
struct Untimed {
  static constexpr bool MEASURES = false;
  static __device__ __forceinline__ Untimed of(Time *, Time *) { return {}; }
  __device__ __forceinline__ void has_lock() {}
  __device__ __forceinline__ void taken(Word) {}
  __device__ __forceinline__ void frees(Word) {}
  __device__ __forceinline__ void given_back(Word) {}
  __device__ __forceinline__ void forget(Word) {}
  __device__ __forceinline__ void finish() {}
};
struct Timed {
  Time *stamps, *sums; // a stamp for each lock; for all threads together: nanoseconds, transfers
  Time sum, transfers, at;
  static __device__ __forceinline__ Timed of(Time *stamps, Time *sums) { return {stamps, sums, 0, 0, 0}; }
  __device__ __forceinline__ void has_lock() { at = now(); }
  __device__ __forceinline__ void taken(Word lock) {
    Time freed = *(volatile Time *)&stamps[lock]; // 0: the lock is new; else the time + 1
    if (!freed)
      return;
    sum += at + 1 - freed;
    transfers++;
  }
  __device__ __forceinline__ void frees(Word lock) { *(volatile Time *)&stamps[lock] = now() + 1; }
  __device__ __forceinline__ void given_back(Word lock) { // without a critical section, so without its fence
    frees(lock);
    __threadfence();
  }
  // What comes next is no transfer.
  __device__ __forceinline__ void forget(Word lock) { *(volatile Time *)&stamps[lock] = 0; }
  __device__ __forceinline__ void finish() {
    atomicAdd(&sums[0], sum);
    atomicAdd(&sums[1], transfers);
  }
};

// Prints what all transfers come to.
static __device__ __forceinline__ void say(const Time *sums) {
  printf("%llu transfers of locks, %f ns each\n", sums[1], sums[1] ? (double)sums[0] / (double)sums[1] : 0);
}

} // namespace locks

#endif
