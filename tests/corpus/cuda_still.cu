// Warps whose lanes look at words and hand on what they find by a ballot and a shuffle, each in a circle of its own length, so that the
// machine as a whole doesn't come back to a state for long. Who would end it: nobody, or one warp after a delay of some kind.
// PTX: traces/make_ptx.sh cuda_still.cu
enum Kind { NOBODY, COUNTS, SLEEPS, LOOKS_AT_CLOCK, COUNTS_IN_MEMORY, GIVE_UP, AFTER_OTHERS };
enum { ALL = ~0u, GO = 0, OVER = 1, ASKED = 2, LIMIT = 20000 };

// What the first lane finds that finds something: lanes look at a word each, of two.
static __device__ __forceinline__ unsigned look(volatile unsigned *words, int which) {
  unsigned lane = threadIdx.x % 32, mine = lane < 2 ? words[which * 2 + lane] : 0, found = __ballot_sync(ALL, mine != 0);
  return __shfl_sync(ALL, mine, found ? __ffs(found) - 1 : lane);
}

// Asks for the end every `period` rounds only.
template <Kind kind> static __device__ __forceinline__ void poll(volatile unsigned *words, int period) {
  int idle = 0;
  unsigned tries = 0, slots[4] = {0, 0, 0, 0};
  volatile unsigned *counted = slots; // in local memory
  do {
    if (++idle == period) {
      idle = 0;
      if (look(words, OVER))
        return;
    }
    if (kind == GIVE_UP && ++tries == LIMIT)
      return;
    if (kind == COUNTS_IN_MEMORY && (counted[tries & 3] += 1) == LIMIT)
      return;
  } while (!look(words, GO));
}

template <Kind kind> static __device__ __forceinline__ void end(volatile unsigned *words) {
  if (kind == COUNTS) {
    unsigned value = threadIdx.x;
#pragma unroll 1
    for (int i = 0; i < LIMIT; i++)
      value = value * 1664525 + 1013904223;
    words[2 * ASKED] = value;
    words[2 * GO] = 1;
  } else if (kind == SLEEPS) {
#pragma unroll 1
    for (int i = 0; i < 40; i++)
      __nanosleep(40000);
    words[2 * GO] = 1;
  } else if (kind == LOOKS_AT_CLOCK) {
    for (long long start = clock64(); clock64() - start < 3000000;)
      ;
    words[2 * GO] = 1;
  } else if (kind == AFTER_OTHERS) {
    while (!words[2 * ASKED]) // nobody does
      ;
    words[2 * GO] = 1;
  }
}

template <Kind kind> static __device__ __forceinline__ void still(unsigned *words) {
  int warp = threadIdx.x / 32;
  if (warp == 0)
    end<kind>(words);
  else
    poll<kind>(words, 2 * warp + 1);
}

extern "C" __global__ void still_nobody(unsigned *words) { still<NOBODY>(words); }
extern "C" __global__ void still_counts(unsigned *words) { still<COUNTS>(words); }
extern "C" __global__ void still_sleeps(unsigned *words) { still<SLEEPS>(words); }
extern "C" __global__ void still_clock(unsigned *words) { still<LOOKS_AT_CLOCK>(words); }
extern "C" __global__ void still_memory(unsigned *words) { still<COUNTS_IN_MEMORY>(words); }
extern "C" __global__ void still_gives_up(unsigned *words) { still<GIVE_UP>(words); }
extern "C" __global__ void still_after_others(unsigned *words) { still<AFTER_OTHERS>(words); }
