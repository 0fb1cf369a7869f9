// Slides, lock v3 (Peterson's), between threads 0 of blocks 0 and `far`, which enter at the same time in each of `rounds` rounds, with words
// of their own, each on another page. A load may overtake a store to another word: both then see the other's flag down, and both come in.
// `section` as in two_threads.cu. PTX: make_ptx.sh peterson_rounds.cu
enum { PAGE = 1024 /* words */ };

static __device__ void critical_section(int *section) {
  if (atomicAdd(&section[0], 1) != 0)
    atomicAdd(&section[1], 1);
  volatile int *counter = &section[2];
  *counter = *counter + 1;
  __threadfence();
  atomicSub(&section[0], 1);
}

// The other thread comes, too, before either goes on.
static __device__ void meet(int *met, int round) {
  atomicAdd(met, 1);
  while (*(volatile int *)met < 2 * (round + 1))
    ;
}

extern "C" __global__ void peterson_rounds(volatile int *words, int *met, int *section, int far, int rounds) {
  int me = blockIdx.x == 0 ? 0 : 1, other = 1 - me;
  if ((me && blockIdx.x != far) || threadIdx.x)
    return;
  for (int round = 0; round < rounds; round++, words += 3 * PAGE) {
    volatile int *flag = words, *victim = words + 2 * PAGE;
    meet(met, round);
    flag[me * PAGE] = 1;
    *victim = me;
    while (flag[other * PAGE] && *victim == me)
      ;
    critical_section(section);
    flag[me * PAGE] = 0;
  }
}

extern "C" __global__ void peterson_rounds_fence(volatile int *words, int *met, int *section, int far, int rounds) {
  int me = blockIdx.x == 0 ? 0 : 1, other = 1 - me;
  if ((me && blockIdx.x != far) || threadIdx.x)
    return;
  for (int round = 0; round < rounds; round++, words += 3 * PAGE) {
    volatile int *flag = words, *victim = words + 2 * PAGE;
    meet(met, round);
    flag[me * PAGE] = 1;
    *victim = me;
    __threadfence();
    while (flag[other * PAGE] && *victim == me)
      ;
    __threadfence();
    critical_section(section);
    __threadfence();
    flag[me * PAGE] = 0;
  }
}
