// A list of free places, by index, with a count beside the index of the first that each change raises. -1: none is free.
typedef unsigned long long Head;

static __device__ int first_of(Head head) { return (int)(unsigned)head; }
static __device__ Head with_first(Head head, int first) { return ((head >> 32) + 1) << 32 | (unsigned)first; }

static __device__ int take(Head *head, volatile int *next) {
  Head seen = atomicAdd(head, 0ull);
  while (true) {
    int first = first_of(seen);
    if (first < 0) {
      seen = atomicAdd(head, 0ull);
      continue;
    }
    __threadfence();
    Head now = atomicCAS(head, seen, with_first(seen, next[first]));
    if (now == seen)
      return first;
    seen = now;
  }
}

static __device__ void give(Head *head, volatile int *next, int place) {
  Head seen = atomicAdd(head, 0ull);
  while (true) {
    next[place] = first_of(seen);
    __threadfence();
    Head now = atomicCAS(head, seen, with_first(seen, place));
    if (now == seen)
      return;
    seen = now;
  }
}

template <bool KEEPS> static __device__ void use_places(Head *head, volatile int *next, int *used, int rounds) {
  if (threadIdx.x != 0)
    return;
  for (int i = 0; i < rounds; i++) {
    int place = take(head, next);
    __threadfence();
    used[place]++;
    __threadfence();
    if (!KEEPS || i != 1)
      give(head, next, place);
  }
}
extern "C" __global__ void places_kept(Head *head, volatile int *next, int *used, int rounds) {
  use_places<true>(head, next, used, rounds);
}
extern "C" __global__ void places_given(Head *head, volatile int *next, int *used, int rounds) {
  use_places<false>(head, next, used, rounds);
}
