// Two lanes of one warp hand values to each other by a flag; each of them waits in a loop of its own.
#define FLAG (*(volatile int *)&slot[0])

template <bool FENCED> __device__ __forceinline__ void hand_over(int *slot, int *sum, int n) {
  if (threadIdx.x == 0) {
    for (int i = 1; i <= n; i++) {
      while (FLAG)
        ;
      __threadfence_block();
      slot[1] = i;
      __threadfence_block();
      FLAG = 1;
    }
  } else if (threadIdx.x == 1) {
    int all = 0;
    for (int i = 1; i <= n; i++) {
      while (!FLAG)
        ;
      if (FENCED)
        __threadfence_block();
      all += slot[1];
      __threadfence_block();
      FLAG = 0;
    }
    *sum = all;
  }
}
extern "C" __global__ void fenced(int *slot, int *sum, int n) { hand_over<true>(slot, sum, n); }
extern "C" __global__ void unfenced(int *slot, int *sum, int n) { hand_over<false>(slot, sum, n); }
