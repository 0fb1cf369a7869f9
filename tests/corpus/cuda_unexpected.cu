// Orders that only the buffers show to be missing: nothing races, and each value could be a new one. PTX: traces/make_ptx.sh cuda_unexpected.cu

// Peterson's lock about atomic operations.
template <bool fenced> static __device__ __forceinline__ void enter(volatile int *flag, volatile int *turn, int *inside, int *both) {
  int me = blockIdx.x, other = 1 - me;
  for (int i = 0; i < 10; i++) {
    flag[me] = 1;
    if (fenced)
      __threadfence();
    *turn = other;
    if (fenced)
      __threadfence();
    while (flag[other] && *turn == other)
      ;
    if (atomicAdd(inside, 1) != 0)
      atomicAdd(both, 1);
    atomicSub(inside, 1);
    if (fenced)
      __threadfence();
    flag[me] = 0;
  }
}

extern "C" __global__ void entry(int *flag, int *turn, int *inside, int *both) { enter<false>(flag, turn, inside, both); }
extern "C" __global__ void entry_fenced(int *flag, int *turn, int *inside, int *both) { enter<true>(flag, turn, inside, both); }

// A seqlock whose writer has no fence.
template <bool fenced> static __device__ __forceinline__ void keep_equal(volatile int *number, volatile int *data, int *torn) {
  if (blockIdx.x == 0) {
#pragma unroll 1
    for (int i = 1; i <= 6; i++) {
      *number = 2 * i - 1;
      if (fenced)
        __threadfence();
      data[0] = i;
      data[1] = i;
      if (fenced)
        __threadfence();
      *number = 2 * i;
    }
    return;
  }
#pragma unroll 1
  for (int k = 0; k < 4; k++) {
    int seen, one, other;
    do {
      while ((seen = *number) & 1)
        ;
      __threadfence();
      one = data[0];
      other = data[1];
      __threadfence();
    } while (*number != seen);
    if (one != other)
      atomicAdd(torn, 1);
  }
}

extern "C" __global__ void numbers(int *number, int *data, int *torn) { keep_equal<false>(number, data, torn); }
extern "C" __global__ void numbers_fenced(int *number, int *data, int *torn) { keep_equal<true>(number, data, torn); }

static __device__ void come_late(void) {
  for (long long start = clock64(); blockIdx.x && clock64() - start < 5000;)
    ;
}

// Looks whether there is a seat, and then takes one.
extern "C" __global__ void look(int *seats, int *taken) {
  come_late();
  if (atomicAdd(seats, 0) > 0) {
    atomicSub(seats, 1);
    atomicAdd(taken, 1);
  }
}

extern "C" __global__ void look_again(int *seats, int *taken) {
  come_late();
  if (atomicSub(seats, 1) > 0)
    atomicAdd(taken, 1);
}
