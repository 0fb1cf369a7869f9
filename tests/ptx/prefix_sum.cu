// Inclusive prefix sums of a block: in dynamic shared memory, by shuffles, and unsafe (a barrier is missing).
extern __shared__ int dynamic[];

extern "C" __global__ void scan_shared(const int *in, int *out, int n) {
  int *from = dynamic, *to = dynamic + n;
  int t = threadIdx.x;
  to[t] = in[t];
  for (int step = 1; step < n; step *= 2) {
    int *swap = from;
    from = to;
    to = swap;
    __syncthreads();
    to[t] = t >= step ? from[t] + from[t - step] : from[t];
  }
  __syncthreads();
  out[t] = to[t];
}

extern "C" __global__ void scan_warp(int *data) {
  int lane = threadIdx.x & 31, v = data[threadIdx.x];
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    int other = __shfl_up_sync(0xffffffffu, v, step);
    if (lane >= step)
      v += other;
  }
  data[threadIdx.x] = v;
}

extern "C" __global__ void scan_unsafe(int *data, int n) {
  for (int step = 1; step < n; step *= 2) {
    int left = threadIdx.x >= step ? data[threadIdx.x - step] : 0;
    __syncthreads();
    data[threadIdx.x] += left;
  }
}
