// Slides, "Reductions": n elements, one block of n / 2 threads, the sum ends in a[0].
// PTX: make_ptx.sh reductions.cu

// n has to be a power of 2.
extern "C" __global__ void half(int *a, int n) {
  for (int off = n / 2; off; off /= 2) {
    if (threadIdx.x < off)
      a[threadIdx.x] += a[threadIdx.x + off];
    __syncthreads();
  }
}
extern "C" __global__ void half_no_barrier(int *a, int n) {
  for (int off = n / 2; off; off /= 2) {
    if (threadIdx.x < off)
      a[threadIdx.x] += a[threadIdx.x + off];
  }
}
extern "C" __global__ void mirror(int *a, int n) {
  for (int off = n / 2; off; off /= 2) {
    if (threadIdx.x < off)
      a[threadIdx.x] += a[2 * off - threadIdx.x - 1];
    __syncthreads();
  }
}

// Neighbours, as in the first diagram: thread 1 may overwrite a[1] before thread 0 has read it.
extern "C" __global__ void adjacent(int *a, int n) {
  for (int off = n / 2; off; off /= 2) {
    if (threadIdx.x < off)
      a[threadIdx.x] = a[2 * threadIdx.x] + a[2 * threadIdx.x + 1];
    __syncthreads();
  }
}
// Reads and writes separated by a temporary and another barrier.
extern "C" __global__ void adjacent_separated(int *a, int n) {
  int tmp = 0;
  for (int off = n / 2; off; off /= 2) {
    if (threadIdx.x < off)
      tmp = a[2 * threadIdx.x] + a[2 * threadIdx.x + 1];
    __syncthreads();
    if (threadIdx.x < off)
      a[threadIdx.x] = tmp;
    __syncthreads();
  }
}

// By atomics, which serialize.
extern "C" __global__ void sum_atomic(int *a, int n) {
  __shared__ int sum;
  int tid = threadIdx.x;
  if (tid == 0)
    sum = 0;
  __syncthreads();
  atomicAdd(&sum, a[tid]);
  atomicAdd(&sum, a[tid + n / 2]);
  __syncthreads();
  if (tid == 0)
    a[0] = sum;
}

// Concatenating strings is associative but not commutative. A string of decimal digits is here its value in `a` and
// 10^length in `power`, so that the result shows the order of the digits.
extern "C" __global__ void concatenate_half(int *a, int *power, int n) {
  for (int off = n / 2; off; off /= 2) {
    int other = threadIdx.x + off;
    if (threadIdx.x < off) {
      a[threadIdx.x] = a[threadIdx.x] * power[other] + a[other];
      power[threadIdx.x] *= power[other];
    }
    __syncthreads();
  }
}
extern "C" __global__ void concatenate_adjacent(int *a, int *power, int n) {
  int value = 0, both = 0, left = 2 * threadIdx.x, right = left + 1;
  for (int off = n / 2; off; off /= 2) {
    if (threadIdx.x < off) {
      value = a[left] * power[right] + a[right];
      both = power[left] * power[right];
    }
    __syncthreads();
    if (threadIdx.x < off) {
      a[threadIdx.x] = value;
      power[threadIdx.x] = both;
    }
    __syncthreads();
  }
}
