// Recursion in a loop: each call saves the convergence barriers of its caller, where some lanes of the caller wait already. out[t] of in[t],
// as tests/unit/test_mc_kernels.c computes it on a CPU.
// Recorded: for sm in 75 86 90: nvcc -cubin -arch=sm_$sm -o sorted.sm_$sm.cubin sorted.cu
__device__ void sort(int *values, int low, int high) {
  if (low >= high)
    return;
  int last = values[high], middle = low;
  for (int i = low; i < high; i++)
    if (values[i] < last) {
      int value = values[i];
      values[i] = values[middle];
      values[middle++] = value;
    }
  values[high] = values[middle];
  values[middle] = last;
  sort(values, low, middle - 1);
  sort(values, middle + 1, high);
}

extern "C" __global__ void sorted(int *out, const int *in) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, values[10];
  for (int i = 0; i < 10; i++)
    values[i] = in[(t + i) % (gridDim.x * blockDim.x)] & 1023;
  sort(values, 0, 9);
  out[t] = values[3] + 1000 * values[8];
}
