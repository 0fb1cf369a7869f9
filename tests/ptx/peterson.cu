// Peterson's lock for two threads, with volatile flags and with plain ones.
__shared__ volatile int flag[2];
__shared__ volatile int victim;
extern "C" __global__ void peterson(int *total) {
  int me = threadIdx.x & 1, other = 1 - me;
  flag[me] = 1;
  victim = me;
  __threadfence_block();
  while (flag[other] && victim == me) {
  }
  total[0] += 1;
  flag[me] = 0;
}
extern "C" __global__ void plain_flag(int *go, int *out) {
  while (*go == 0) {
  }
  out[threadIdx.x] = 1;
}
