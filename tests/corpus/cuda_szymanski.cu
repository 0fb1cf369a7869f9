// Szymanski's lock; `fenced`: with a fence behind the store that closes the door. PTX: traces/make_ptx.sh cuda_szymanski.cu
template <bool fenced> static __device__ __forceinline__ void lock_once(volatile int *flag, int *count) {
  int me = blockIdx.x, n = gridDim.x;
  flag[me] = 1;
  __threadfence();
  for (int i = 0; i < n; i++)
    while (flag[i] >= 3)
      ;
  flag[me] = 3;
  if (fenced)
    __threadfence();
  bool waits = false;
  for (int i = 0; i < n; i++)
    waits |= flag[i] == 1;
  if (waits) {
    flag[me] = 2;
    __threadfence();
    for (bool opens = false; !opens;)
      for (int i = 0; i < n; i++)
        opens |= flag[i] == 4;
  }
  flag[me] = 4;
  __threadfence();
  for (int i = 0; i < me; i++)
    while (flag[i] >= 2)
      ;
  __threadfence();
  count[0] += 1;
  __threadfence();
  for (int i = me + 1; i < n; i++)
    for (int seen = 2; seen == 2 || seen == 3;)
      seen = flag[i];
  __threadfence();
  flag[me] = 0;
}

extern "C" __global__ void door(int *flag, int *count) { lock_once<false>(flag, count); }
extern "C" __global__ void door_fenced(int *flag, int *count) { lock_once<true>(flag, count); }
