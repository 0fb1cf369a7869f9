// Flags without atomics: volatile accesses of each width and space, and the three fences.
struct Pair {
  int a, b;
};

extern "C" __global__ void flags(volatile int *flag, volatile char *c, volatile short *s, volatile long long *l,
                                 volatile float *f, volatile double *d, int *data) {
  __shared__ volatile int turn;
  __shared__ volatile unsigned char want[2];
  want[threadIdx.x & 1] = 1;
  turn = threadIdx.x;
  __threadfence_block();
  while (want[1] && turn == 1) {
  }
  if (threadIdx.x == 0) {
    data[0] = 1;
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence_system();
    data[1] = data[0];
  }
  *c = *c + 1;
  *s = *s + 1;
  *l = *l + 1;
  *f = *f + 1.0f;
  *d = *d + 1.0;
}
