// What a thread has written to a word it reads, and so do others behind a barrier, however much waits on the way to memory.
#define OWN_WORD(name, number)                                                                   \
  extern "C" __global__ void name(int *words, int *wrong, int stride, int rounds) {              \
    int t = blockIdx.x * blockDim.x + threadIdx.x;                                               \
    volatile int *own = words + (size_t)t * stride;                                              \
    unsigned chance = (number) * 2654435761u + 12345;                                            \
    int want = 0, bad = 0;                                                                       \
    for (int i = 0; i < rounds; i++) {                                                           \
      chance = chance * 1664525u + 1013904223u;                                                  \
      switch (chance >> 29) {                                                                    \
      case 0:                                                                                    \
      case 1: *own = want = i; break;                                                            \
      case 2:                                                                                    \
      case 3: atomicAdd((int *)own, 3), want += 3; break;                                        \
      case 4: bad += atomicExch((int *)own, i) != want, want = i; break;                         \
      case 5: bad += atomicAdd((int *)own, 1) != want++; break;                                  \
      default: bad += *own != want;                                                              \
      }                                                                                          \
    }                                                                                            \
    if (bad)                                                                                     \
      atomicAdd(wrong, bad);                                                                     \
  }
// Each lane does something else; all lanes of a warp do the same.
OWN_WORD(lanes, t)
OWN_WORD(warps, t / 32)
// Stores or additions, and behind a barrier plain loads of what other warps have written.
extern "C" __global__ void behind_barrier(int *words, int *wrong, int stride, int rounds) {
  int n = blockDim.x, t = threadIdx.x, bad = 0;
  int *own = words + (size_t)blockIdx.x * n * stride;
  for (int i = 1; i <= rounds; i++) {
    if (i & 1)
      own[t * stride] = i;
    else if (i & 2)
      atomicAdd(&own[t * stride], 1);
    else
      own[(n - 1 - t) * stride] = i;
    __syncthreads();
    bad += own[(t + 32) % n * stride] != i;
    __syncthreads();
  }
  if (bad)
    atomicAdd(wrong, bad);
}
