// Loops that ptxas leaves as they are, for `make bench` of the same source as PTX and as machine code.

extern "C" __global__ void alu(int *out, int rounds) {
  int x = threadIdx.x, y = blockIdx.x;
  #pragma unroll 1
  for (int i = 0; i < rounds; i++) {
    x = x * 3 + y;
    y = (y ^ x) - i;
  }
  if (x == 12345 && y == 54321)
    *out = x;
}

extern "C" __global__ void shared(int *out, int rounds) {
  __shared__ int word[512];
  word[threadIdx.x] = 0;
  #pragma unroll 1
  for (int i = 0; i < rounds; i++) {
    word[threadIdx.x] += i;
    __syncthreads();
  }
  if (word[threadIdx.x] == 12345)
    *out = rounds;
}

// Lanes take their turns: each has the lock in one round.
extern "C" __global__ void atomics(int *lock, int rounds) {
  #pragma unroll 1
  for (int i = 0; i < rounds; i++)
    for (bool done = false; !done;)
      if (atomicCAS(&lock[0], 0, 1) == 0) {
        lock[1]++;
        __threadfence();
        atomicExch(&lock[0], 0);
        done = true;
      }
}

// All warps but the last spin while that counts.
extern "C" __global__ void spinning(int *out, int rounds) {
  __shared__ volatile int go, count;
  if (threadIdx.x == 0)
    go = count = 0;
  __syncthreads();
  if (threadIdx.x < blockDim.x - 32) {
    while (go == 0)
      ;
  } else if (threadIdx.x == blockDim.x - 32) {
    #pragma unroll 1
    for (int i = 0; i < rounds; i++)
      count = i;
    go = 1;
  }
  if (threadIdx.x == 0)
    out[0] = count;
}
