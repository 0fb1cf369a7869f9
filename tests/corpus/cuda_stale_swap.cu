// A list of free places, by index, -1 at its end, the first of which is in one word. Who takes the first place reads what comes next, and swaps:
// that is right only if nobody gives the place back meanwhile, or a count in the same word is raised by each change.
// PTX: make_ptx.sh cuda_stale_swap.cu
typedef unsigned long long Head;
typedef volatile int *Words;

template <bool COUNTS> struct List {
  Head *head;
  Words next;

  __device__ Head look() { return atomicAdd(head, 0ull); }
  __device__ static int first_of(Head seen) { return (int)(unsigned)seen; }
  __device__ static Head with(Head seen, int first) { return (COUNTS ? ((seen >> 32) + 1) << 32 : 0ull) | (unsigned)first; }

  __device__ int take() {
    Head seen = look();
    while (true) {
      int first = first_of(seen);
      if (first < 0) {
        seen = look();
        continue;
      }
      __threadfence();
      Head now = atomicCAS(head, seen, with(seen, next[first]));
      if (now == seen)
        return first;
      seen = now;
    }
  }
  __device__ void give(int place) {
    Head seen = look();
    while (true) {
      next[place] = first_of(seen);
      __threadfence();
      Head now = atomicCAS(head, seen, with(seen, place));
      if (now == seen)
        return;
      seen = now;
    }
  }
};

// Each thread takes two places, and gives the first one back before the second.
template <bool COUNTS> static __device__ void use(Head *head, Words next, int rounds) {
  List<COUNTS> list = {head, next};
  for (int i = 0; i < rounds; i++) {
    int one = list.take(), other = list.take();
    __threadfence();
    list.give(one);
    list.give(other);
  }
}
extern "C" __global__ void places(Head *head, Words next, int rounds) { use<false>(head, next, rounds); }
extern "C" __global__ void places_counted(Head *head, Words next, int rounds) { use<true>(head, next, rounds); }

// A stack that is only filled, and then only emptied: no place comes back.
extern "C" __global__ void filled_then_emptied(Head *head, Words next, int *come, int *sum) {
  List<false> list = {head, next};
  list.give(blockIdx.x);
  __threadfence();
  atomicAdd(come, 1);
  while (atomicAdd(come, 0) < gridDim.x) {
  }
  __threadfence();
  atomicAdd(sum, list.take());
}
