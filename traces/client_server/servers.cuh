// Servers: blocks that own data, and execute the critical sections of others (Wang, Fussell and Lin 2019, 3.1, Listing 2). A critical
// section's data belong to the server of its number, and are locked in that server's shared memory.
//
//   __shared__ Word words[4096];
//   LocalLocks locks(words, 4096, servers);          // begin() by all threads
//   locks.lock_each(has, number, critical_section);  // whole warps: critical_section() under the lock of each lane's number
#ifndef SERVERS_CUH
#define SERVERS_CUH

#include "batches.cuh"

namespace messages {

static __device__ __forceinline__ bool try_lock(Word *lock) {
  if (atomicCAS(lock, 0, 1))
    return false;
  __threadfence_block();
  return true;
}
static __device__ __forceinline__ void unlock(Word *lock) {
  __threadfence_block();
  put(lock, 0);
}

// Who measures nothing: see lock_each().
struct Unmeasured {
  __device__ __forceinline__ void waits() {}
  __device__ __forceinline__ void taken(Word) {}
  __device__ __forceinline__ void frees(Word) {}
  __device__ __forceinline__ void forget() {}
};
// How long each lock takes from one owner to the next, by %globaltimer: a stamp beside each lock, written before the fence of the
// unlock, in nanoseconds by 32 bits; 0: the lock is new. Only who has waited for the lock counts, or, if `every`, each new owner. A thread
// adds up, and adds its sum to that of all at the end.
struct Measured {
  Word *stamps, count;
  unsigned long long sum, transfers;
  bool every, waited;

  static __device__ __forceinline__ Word now() {
    Word t;
    asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(t)::"memory");
    return t | 1;
  }
  __device__ __forceinline__ void waits() { waited = true; }
  __device__ __forceinline__ void taken(Word index) {
    Word freed = look(&stamps[index]);
    if (freed && (waited || every)) {
      sum += now() - freed;
      transfers++;
    }
    waited = false;
  }
  __device__ __forceinline__ void frees(Word index) { put(&stamps[index], now()); }
  // A warp: what comes next is no transfer.
  __device__ __forceinline__ void forget() {
    for (Word i = lane_number(); i < count; i += LANES)
      put(&stamps[i], 0);
  }
  // `sums`: nanoseconds, and transfers.
  __device__ __forceinline__ void finish(unsigned long long *sums) {
    atomicAdd(&sums[0], sum);
    atomicAdd(&sums[1], transfers);
  }
};

// Data are dealt to servers one by one, and those of a server to its locks: data with one lock exclude each other.
class LocalLocks {
  Word *words_, count_, servers_;

public:
  __device__ __forceinline__ LocalLocks(Word *words, Word count, Word servers)
      : words_(words), count_(count), servers_(servers) {}
  __device__ __forceinline__ void begin() const {
    for (Word i = threadIdx.x; i < count_; i += blockDim.x)
      words_[i] = 0;
  }
  __device__ __forceinline__ Word server_of(Word number) const { return number % servers_; }
  __device__ __forceinline__ Word index_of(Word number) const { return number / servers_ % count_; }
  // The hierarchy of all servers' locks.
  __device__ __forceinline__ Word rank_of(Word number) const { return server_of(number) * count_ + index_of(number); }
  __device__ __forceinline__ Word *lock(Word index) const { return words_ + index; }

  template <class Section, class Clock>
  __device__ __forceinline__ void lock_each(bool has, Word number, Section &section, Clock &clock) const {
    Word index = index_of(number), *mine = lock(index);
    do {
      if (has && try_lock(mine)) {
        clock.taken(index);
        section();
        clock.frees(index);
        unlock(mine);
        has = false;
      } else if (has) {
        clock.waits();
      }
    } while (__any_sync(ALL_LANES, has));
  }
  template <class Section> __device__ __forceinline__ void lock_each(bool has, Word number, Section &section) const {
    Unmeasured none;
    lock_each(has, number, section, none);
  }
};

} // namespace messages

#endif
