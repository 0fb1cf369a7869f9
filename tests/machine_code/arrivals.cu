// Asynchronous copies that arrive at a barrier in shared memory when they have come (cp.async.mbarrier.arrive), as
// tests/unit/test_mc_kernels.c computes it on a CPU; and three kernels that tests/script/arrivals.sh checks. Recorded: for sm in 80 86 90:
// nvcc -cubin -lineinfo -std=c++17 -arch=sm_$sm -o arrivals.sm_$sm.cubin arrivals.cu
#include <cstdint>
#include <cuda/barrier>

#define ADDRESS(x) ((unsigned)__cvta_generic_to_shared(x))
#define INIT(b, n) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(ADDRESS(b)), "r"(n) : "memory")
#define COPY(to, from) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(ADDRESS(to)), "l"(from) : "memory")
#define ARRIVE_COPIED(b) asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(ADDRESS(b)) : "memory")
#define ARRIVE_COPIED_COUNTED(b) \
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(ADDRESS(b)) : "memory")

__device__ void arrive(uint64_t *b) {
  uint64_t state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(ADDRESS(b)) : "memory");
}

__device__ void wait(uint64_t *b, unsigned parity) {
  unsigned done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(ADDRESS(b)), "r"(parity)
                 : "memory");
}

// The copies arrive in addition to the threads, whom the barrier counts.
extern "C" __global__ void added(int *out, const int *in) {
  __shared__ uint64_t barrier;
  __shared__ int value[96];
  int t = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  if (threadIdx.x == 0)
    INIT(&barrier, blockDim.x);
  __syncthreads();
  for (int i = 0; i < 3; i++) {
    COPY(&value[threadIdx.x], &in[(t + i * 7) % 192]);
    ARRIVE_COPIED(&barrier);
    arrive(&barrier);
    wait(&barrier, i & 1);
    sum = sum * 5 + value[(threadIdx.x + 1) % blockDim.x];
    __syncthreads();
  }
  out[t] = sum;
}

// The copies are those whom the barrier counts; warp 0 copies for all, in two groups of lanes.
extern "C" __global__ void counted(int *out, const int *in) {
  __shared__ uint64_t barrier;
  __shared__ int value[96];
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0)
    INIT(&barrier, 32);
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int i = threadIdx.x; i < 96; i += 32)
      if (i % 3 || i < 64)
        COPY(&value[i], &in[blockIdx.x * blockDim.x + i]);
      else
        value[i] = in[blockIdx.x * blockDim.x + i];
    if (threadIdx.x % 2)
      ARRIVE_COPIED_COUNTED(&barrier);
    else
      arrive(&barrier);
  }
  asm volatile("cp.async.wait_all;" ::: "memory"); // for lanes that have arrived themselves
  wait(&barrier, 0);
  __syncthreads();
  out[t] = value[threadIdx.x ^ 1];
}

// As libcu++ has it.
extern "C" __global__ void library(int *out, const int *in) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(Barrier) char storage[sizeof(Barrier)];
  __shared__ int value[96];
  Barrier &barrier = *reinterpret_cast<Barrier *>(storage);
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0)
    init(&barrier, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(&value[threadIdx.x], &in[t], sizeof(int), barrier);
  barrier.arrive_and_wait();
  out[t] = value[threadIdx.x ^ 1];
}

// Nobody waits at the barrier; its twin is `added`.
extern "C" __global__ void unwaited(int *out, const int *in) {
  __shared__ uint64_t barrier;
  __shared__ int value[96];
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0)
    INIT(&barrier, blockDim.x);
  __syncthreads();
  COPY(&value[threadIdx.x], &in[t]);
  ARRIVE_COPIED(&barrier);
  arrive(&barrier);
  out[t] = value[threadIdx.x];
}

// The copies arrive in addition to threads who don't: the barrier waits for ever. Its twin is `alone`.
extern "C" __global__ void missing(int *out, const int *in) {
  __shared__ uint64_t barrier;
  __shared__ int value[96];
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0)
    INIT(&barrier, blockDim.x);
  __syncthreads();
  COPY(&value[threadIdx.x], &in[t]);
  ARRIVE_COPIED(&barrier);
  wait(&barrier, 0);
  out[t] = value[threadIdx.x ^ 1];
}

extern "C" __global__ void alone(int *out, const int *in) {
  __shared__ uint64_t barrier;
  __shared__ int value[96];
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0)
    INIT(&barrier, blockDim.x);
  __syncthreads();
  COPY(&value[threadIdx.x], &in[t]);
  ARRIVE_COPIED_COUNTED(&barrier);
  wait(&barrier, 0);
  out[t] = value[threadIdx.x ^ 1];
}

// Zeros in place of odd numbers.
extern "C" __global__ void ignored(int *out, const int *in) {
  __shared__ int value[96];
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  value[threadIdx.x] = -1;
  asm volatile("{ .reg .pred odd; setp.ne.u32 odd, %2, 0; cp.async.ca.shared.global [%0], [%1], 4, odd; }" ::"r"(
                   ADDRESS(&value[threadIdx.x])),
               "l"(&in[t]), "r"(in[t] & 1)
               : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  out[t] = value[threadIdx.x ^ 1];
}
