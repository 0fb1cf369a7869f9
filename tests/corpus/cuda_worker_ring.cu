// Workers take entries of a ring, set each back to 0, and put two smaller ones in for one that is larger than 1. They end once `left` says that
// nothing is left, which is one too many for the ones that hang. PTX: traces/make_ptx.sh cuda_worker_ring.cu

enum { ENTRIES = 16 };

static __device__ int look(int *word) { return *(volatile int *)word; }
static __device__ void put(int *word, int value) { *(volatile int *)word = value; }

extern "C" __global__ void worker_ring(int *ring, int *taken, int *filled, int *left) {
  while (true) {
    int *entry = &ring[atomicAdd(taken, 1) % ENTRIES], value;
    while ((value = look(entry)) == 0)
      if (look(left) == 0)
        return;
    __threadfence();
    put(entry, 0);
    for (int i = 0; i < 2 && value > 1; i++) {
      int *empty = &ring[atomicAdd(filled, 1) % ENTRIES];
      while (look(empty) != 0) {
      }
      __threadfence();
      put(empty, value - 1);
    }
    atomicSub(left, 1);
  }
}

// The same, and they never end.
extern "C" __global__ void worker_ring_for_ever(int *ring, int *taken, int *filled) {
  while (true) {
    int *entry = &ring[atomicAdd(taken, 1) % ENTRIES], value;
    while ((value = look(entry)) == 0) {
    }
    __threadfence();
    put(entry, 0);
    for (int i = 0; i < 2 && value > 1; i++) {
      int *empty = &ring[atomicAdd(filled, 1) % ENTRIES];
      while (look(empty) != 0) {
      }
      __threadfence();
      put(empty, value - 1);
    }
  }
}

// Forks in a circle, which each thread takes by one instruction, and gives back by one.
static __device__ void take_both(int *fork, const int order[2]) {
#pragma unroll 1
  for (int i = 0; i < 2; i++) {
    while (atomicCAS(&fork[order[i]], 0, 1) != 0) {
    }
    __threadfence();
    __nanosleep(3000);
  }
}
template <bool SORTED> static __device__ void eat(int *fork, int *eaten, int rounds) {
  int left = blockIdx.x, right = (left + 1) % gridDim.x;
  int order[2] = {SORTED ? min(left, right) : left, SORTED ? max(left, right) : right};
#pragma unroll 1
  for (int round = 0; round < rounds; round++) {
    take_both(fork, order);
    atomicAdd(eaten, 1);
    __threadfence();
#pragma unroll 1
    for (int i = 0; i < 2; i++)
      atomicExch(&fork[order[i]], 0);
  }
}
extern "C" __global__ void forks(int *fork, int *eaten, int rounds) { eat<false>(fork, eaten, rounds); }
extern "C" __global__ void forks_sorted(int *fork, int *eaten, int rounds) { eat<true>(fork, eaten, rounds); }
