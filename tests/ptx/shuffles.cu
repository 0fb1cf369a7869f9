// The shuffles, of each kind and width.
extern "C" __global__ void shuffles(int *i, float *f, double *d, long long *l) {
  unsigned t = threadIdx.x;
  i[t] = __shfl_sync(0xffffffffu, i[t], 0) + __shfl_up_sync(0xffffffffu, i[t], 1) +
         __shfl_down_sync(0xffffffffu, i[t], 2, 16) + __shfl_xor_sync(0xffffffffu, i[t], 4);
  f[t] += __shfl_xor_sync(0xffffffffu, f[t], 1);
  d[t] += __shfl_down_sync(0xffffffffu, d[t], 16);
  l[t] += __shfl_sync(0x0000ffffu, l[t], t ^ 3, 8);
}
