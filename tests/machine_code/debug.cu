// What `nvcc -G` makes: each inline function has a section of its own, and the driver writes its address into the calls. out[t] of in[t], as
// tests/unit/test_mc_kernels.c computes it on a CPU.
// Recorded: for sm in 75 80 90: nvcc -G -cubin -arch=sm_$sm -o debug.sm_$sm.cubin debug.cu
__device__ int lock, count, came;

__device__ inline void take() {
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  __threadfence();
}

__device__ inline void give() {
  __threadfence();
  atomicExch(&lock, 0);
}

// Each lane in its turn adds under a lock, and reads the sum when all have.
extern "C" __global__ void turns(int *out, const int *in) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int lane = 0; lane < 32; lane++)
    if (threadIdx.x % 32 == lane) {
      take();
      *(volatile int *)&count = *(volatile int *)&count + in[t] % 100;
      give();
    }
  atomicAdd(&came, 1);
  while (*(volatile int *)&came != gridDim.x * blockDim.x) {
  }
  __threadfence();
  out[t] = *(volatile int *)&count;
}

typedef int (*Op)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int divide(int a, int b) { return a / b; }
__device__ Op ops[2] = {add, divide};
__constant__ int first[3] = {5, 7, 11};
__constant__ int second[3] = {2, 3, 13};

// A pointer to constants is one to memory, and a pointer to a function its address.
extern "C" __global__ void pointed(int *out, const int *in) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, value = in[t] & 255;
  const int *constants = value & 1 ? first : second;
  out[t] = ops[value % 2](value, constants[value % 3]) + gridDim.x;
}
