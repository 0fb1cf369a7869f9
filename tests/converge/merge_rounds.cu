// merge_rounds.cu - rounds of atomic operations that ptxas makes one for the warp (merge.cu), as PTX and as its machine code.
extern "C" __global__ void add_one(int *x, int n, int *o) {
#pragma unroll 1
  for (int i = 0; i < n; i++)
    atomicAdd(x, 1);
}

extern "C" __global__ void take_number(int *x, int n, int *o) {
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < n; i++)
    sum += atomicAdd(x, 1);
  o[threadIdx.x + blockIdx.x * blockDim.x] = sum;
}

extern "C" __global__ void highest(int *x, int n, int *o) {
#pragma unroll 1
  for (int i = 0; i < n; i++)
    atomicMax(x, (int)threadIdx.x + i);
}

extern "C" __global__ void take_shared(int *x, int n, int *o) {
  __shared__ int next;
  if (threadIdx.x == 0)
    next = 0;
  __syncthreads();
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < n; i++)
    sum += atomicAdd(&next, 3);
  o[threadIdx.x + blockIdx.x * blockDim.x] = sum;
}
