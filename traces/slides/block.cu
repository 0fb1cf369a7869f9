// Slides, "Barriers", "Convolution Filter", "Classwork" (maximum): what __syncthreads orders. One block.
// PTX: make_ptx.sh block.cu

// Each thread writes its element and looks at its neighbour's. With several blocks the last thread of a block looks
// at the next block's first element, for which __syncthreads doesn't help.
extern "C" __global__ void vector_barrier(volatile unsigned *vector, unsigned vectorsize, int *errors) {
  unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
  vector[id] = id;
  __syncthreads();
  if (id < vectorsize - 1 && vector[id + 1] != id + 1)
    atomicAdd(errors, 1);
}

// 1D convolution with a filter of odd size; cells outside count as 0.
enum { FILTER = 5 };
__constant__ int filter[FILTER] = {3, 4, 5, 4, 3};

// The input is staged in a shared array of at most 256 cells.
extern "C" __global__ void convolution(const int *input, int *output, int n) {
  __shared__ int tile[256];
  int tid = threadIdx.x, sum = 0;
  tile[tid] = input[tid];
  __syncthreads();
  for (int i = 0; i < FILTER; i++) {
    int at = tid + i - FILTER / 2;
    if (at >= 0 && at < n)
      sum += filter[i] * tile[at];
  }
  output[tid] = sum;
}
extern "C" __global__ void convolution_no_barrier(const int *input, int *output, int n) {
  __shared__ int tile[256];
  int tid = threadIdx.x, sum = 0;
  tile[tid] = input[tid];
  for (int i = 0; i < FILTER; i++) {
    int at = tid + i - FILTER / 2;
    if (at >= 0 && at < n)
      sum += filter[i] * tile[at];
  }
  output[tid] = sum;
}
// In place: the barrier separates the reads from the writes.
extern "C" __global__ void convolution_in_place(int *array, int n) {
  int tid = threadIdx.x, sum = 0;
  for (int i = 0; i < FILTER; i++) {
    int at = tid + i - FILTER / 2;
    if (at >= 0 && at < n)
      sum += filter[i] * array[at];
  }
  __syncthreads();
  array[tid] = sum;
}

// The maximum; thread 0 reports it in the same kernel.
extern "C" __global__ void maximum(const int *a, int *most, int *reported) {
  atomicMax(most, a[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0)
    *reported = *most;
}
extern "C" __global__ void maximum_no_barrier(const int *a, int *most, int *reported) {
  atomicMax(most, a[threadIdx.x]);
  if (threadIdx.x == 0)
    *reported = *most;
}
