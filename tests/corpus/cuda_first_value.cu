// Who gives a word its first value, and who uses it.
// PTX: make_ptx.sh cuda_first_value.cu

static __device__ void lock(int *word) {
  while (atomicCAS(word, 0, 1) != 0) {
  }
  __threadfence_block();
}

static __device__ void unlock(int *word) {
  __threadfence_block();
  atomicExch(word, 0);
}

// A lock and a counter in shared memory, which thread 0 sets to 0. `meets`: nobody uses them before.
extern "C" __global__ void first_shared(int meets, int *out) {
  __shared__ int word, count;
  if (threadIdx.x == 0) {
    word = 0;
    count = 0;
  }
  if (meets)
    __syncthreads();
  if (threadIdx.x % 32 == 1) {
    lock(&word);
    *(volatile int *)&count += 1;
    unlock(&word);
  }
  __syncthreads();
  if (threadIdx.x == 0)
    out[blockIdx.x] = count;
}

// A counter in global memory, which the first block may set to 0.
extern "C" __global__ void first_global(int sets, int *count) {
  if (sets && blockIdx.x == 0 && threadIdx.x == 0)
    *count = 0;
  if (threadIdx.x == 0)
    atomicAdd(count, 1);
}

// A lock that a plain store gives back: no first value.
extern "C" __global__ void first_freed(int *word, volatile int *count) {
  if (threadIdx.x == 0) {
    while (atomicCAS(word, 0, 1) != 0) {
    }
    __threadfence();
    *count += 1;
    __threadfence();
    *word = 0;
  }
}

// A slot that the first block fills and the second one empties, by a plain store or a volatile one: no first value either.
extern "C" __global__ void first_emptied(int plain, int *full, int *slot, int *out) {
  if (threadIdx.x != 0)
    return;
  for (int i = 0; i < 3; i++) {
    while (*(volatile int *)full != (int)blockIdx.x) {
    }
    __threadfence();
    if (blockIdx.x == 0)
      *slot = i;
    else
      out[i] = *slot;
    __threadfence();
    if (blockIdx.x == 1 && plain)
      *full = 0;
    else
      *(volatile int *)full = 1 - blockIdx.x;
  }
}
