// Slides, "Prefix Sum": the attempts v1 to v7 and two with one barrier. n elements, one block of n threads; a[i]
// should become the sum of a[0] to a[i].
// PTX: make_ptx.sh scans.cu

// v1: this is reduction.
extern "C" __global__ void scan_v1(int *a, int n) {
  for (int off = n / 2; off; off /= 2) {
    if (threadIdx.x < off)
      a[threadIdx.x] += a[threadIdx.x + off];
    __syncthreads();
  }
}
// v2: the index is beyond the array.
extern "C" __global__ void scan_v2(int *a, int n) {
  for (int off = n; off; off /= 2) {
    if (threadIdx.x < off)
      a[threadIdx.x] += a[threadIdx.x + off];
    __syncthreads();
  }
}
// v3: smaller indices are written to more often.
extern "C" __global__ void scan_v3(int *a, int n) {
  for (int off = n / 2; off; off /= 2) {
    if (threadIdx.x < off)
      a[threadIdx.x] += a[threadIdx.x + (n - off)];
    __syncthreads();
  }
}
// v4: the offset stays 0.
extern "C" __global__ void scan_v4(int *a, int n) {
  for (int off = 0; off < n; off *= 2) {
    if (threadIdx.x > off)
      a[threadIdx.x] += a[threadIdx.x - off];
    __syncthreads();
  }
}
// v5: a data race; and `>` leaves out a[off].
extern "C" __global__ void scan_v5(int *a, int n) {
  for (int off = 1; off < n; off *= 2) {
    if (threadIdx.x > off)
      a[threadIdx.x] += a[threadIdx.x - off];
    __syncthreads();
  }
}
// v5 with the comparison of v7: only the race is left.
extern "C" __global__ void scan_v5_from(int *a, int n) {
  for (int off = 1; off < n; off *= 2) {
    if (threadIdx.x >= off)
      a[threadIdx.x] += a[threadIdx.x - off];
    __syncthreads();
  }
}
// v6: separates reads and writes by a barrier that not all threads reach. On a global and on a shared array.
extern "C" __global__ void scan_v6(int *a, int n) {
  int tmp;
  for (int off = 1; off < n; off *= 2) {
    if (threadIdx.x > off) {
      tmp = a[threadIdx.x - off];
      __syncthreads();
      a[threadIdx.x] += tmp;
    }
    __syncthreads();
  }
}
extern "C" __global__ void scan_v6_shared(int *data, int n) {
  __shared__ int a[256];
  int tmp;
  a[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  for (int off = 1; off < n; off *= 2) {
    if (threadIdx.x > off) {
      tmp = a[threadIdx.x - off];
      __syncthreads();
      a[threadIdx.x] += tmp;
    }
    __syncthreads();
  }
  data[threadIdx.x] = a[threadIdx.x];
}
// v7: right.
extern "C" __global__ void scan_v7(int *a, int n) {
  int tmp = 0;
  for (int off = 1; off < n; off *= 2) {
    if (threadIdx.x >= off)
      tmp = a[threadIdx.x - off];
    __syncthreads();
    if (threadIdx.x >= off)
      a[threadIdx.x] += tmp;
    __syncthreads();
  }
}
// One barrier a step: the upper half of each group of 2 * off adds the last sum of the lower half.
extern "C" __global__ void scan_one_barrier(int *a, int n) {
  int tid = threadIdx.x;
  for (int off = 1; off < n; off *= 2) {
    if (tid >= off) {
      int val = tid % (2 * off);
      if (val >= off)
        a[tid] += a[tid - val + off - 1];
    }
    __syncthreads();
  }
}
// The same by the bits of the thread's number. The term with the two shifts is always 0.
extern "C" __global__ void scan_one_barrier_bits(int *a, int n) {
  int tid = threadIdx.x, tmp_id = tid, idx = 0;
  if (tid < n) {
    for (int off = 1; off < n; off *= 2) {
      int bit = tmp_id & 1;
      tmp_id = tmp_id >> 1;
      if (bit) {
        int step = tid / off;
        a[tid] += a[step * off + ((1 << idx) & (1 << (idx + 1))) - 1];
      }
      idx += 1;
      __syncthreads();
    }
  }
}
