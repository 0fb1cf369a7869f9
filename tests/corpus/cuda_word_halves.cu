// One block waits for the upper half of a word of 64 bits, and only then lets the other one go, which would change one
// of its halves.
template <int HALF, bool FIRST> static __device__ void wait_for_half(unsigned long long *word, volatile int *go) {
  volatile unsigned *half = (volatile unsigned *)word + HALF;
  if (threadIdx.x != 0)
    return;
  if (blockIdx.x == 0) {
    while ((*(volatile unsigned long long *)word >> 32) == 0) {
    }
    *go = 1;
    return;
  }
  if (FIRST)
    *half = 1;
  while (*go == 0) {
  }
  if (!FIRST)
    *half = 1;
}
extern "C" __global__ void lower_half(unsigned long long *word, volatile int *go) {
  wait_for_half<0, false>(word, go);
}
extern "C" __global__ void upper_half(unsigned long long *word, volatile int *go) {
  wait_for_half<1, false>(word, go);
}
extern "C" __global__ void upper_half_first(unsigned long long *word, volatile int *go) {
  wait_for_half<1, true>(word, go);
}

// A lock whose lower half counts readers, and whose upper half has the writer's bit.
extern "C" __global__ void lock_word(unsigned long long *word, int *go) {
  if (threadIdx.x != 0)
    return;
  while (atomicCAS(word, 0ull, 1ull << 63) != 0) {
  }
  __threadfence();
  *go += 1;
  __threadfence();
  atomicAnd(word, ~(1ull << 63));
}
