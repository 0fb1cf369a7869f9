// Asynchronous copies to shared memory (cp.async), as tests/unit/test_mc_kernels.c computes it on a CPU; and two kernels that
// tests/script/copies.sh checks. Recorded: for sm in 80 86 90: nvcc -cubin -lineinfo -std=c++17 -arch=sm_$sm -o copies.sm_$sm.cubin copies.cu
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

#define ADDRESS(x) ((unsigned)__cvta_generic_to_shared(x))
#define COPY(how, bytes, to, from) \
  asm volatile("cp.async." how ".shared.global [%0], [%1], " #bytes ";" ::"r"(ADDRESS(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(left) asm volatile("cp.async.wait_group " #left ";" ::: "memory")

// Four, eight and sixteen bytes, two groups.
extern "C" __global__ void sizes(int *out, const int *in) {
  __shared__ __align__(16) int four[96], eight[96], sixteen[96];
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  COPY("ca", 4, &four[threadIdx.x], &in[t]);
  if (threadIdx.x % 2 == 0)
    COPY("ca", 8, &eight[threadIdx.x], &in[t]);
  COMMIT();
  if (threadIdx.x % 4 == 0)
    COPY("cg", 16, &sixteen[threadIdx.x], &in[t]);
  COMMIT();
  WAIT(1);
  __syncthreads();
  int first = four[threadIdx.x ^ 1] * 5 + eight[threadIdx.x ^ 3];
  WAIT(0);
  __syncthreads();
  out[t] = first * 3 + sixteen[threadIdx.x ^ 5];
}

// So many bytes of sixteen, then zeros.
extern "C" __global__ void filled(int *out, const int *in) {
  __shared__ __align__(16) int value[96];
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  value[threadIdx.x] = -1;
  __syncthreads();
  if (threadIdx.x % 4 == 0)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(ADDRESS(&value[threadIdx.x])), "l"(&in[t]),
                 "r"(threadIdx.x % 16)
                 : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  out[t] = value[threadIdx.x ^ 1];
}

// Two stages: one is copied while the other is used.
extern "C" __global__ void stages(int *out, const int *in) {
  __shared__ int stage[2][96];
  int t = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  __pipeline_memcpy_async(&stage[0][threadIdx.x], &in[t], 4);
  __pipeline_commit();
  for (int i = 0; i < 6; i++) {
    if (i < 5)
      __pipeline_memcpy_async(&stage[(i + 1) & 1][threadIdx.x], &in[(t + (i + 1) * 7) % 192], 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum = sum * 5 + stage[i & 1][(threadIdx.x + 1) % blockDim.x];
    __syncthreads();
  }
  out[t] = sum;
}

// The same with cuda::pipeline.
extern "C" __global__ void pipelined(int *out, const int *in) {
  __shared__ int stage[2][96];
  auto pipe = cuda::make_pipeline();
  int t = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  pipe.producer_acquire();
  cuda::memcpy_async(&stage[0][threadIdx.x], &in[t], sizeof(int), pipe);
  pipe.producer_commit();
  for (int i = 0; i < 6; i++) {
    pipe.producer_acquire();
    if (i < 5)
      cuda::memcpy_async(&stage[(i + 1) & 1][threadIdx.x], &in[(t + (i + 1) * 7) % 192], sizeof(int), pipe);
    pipe.producer_commit();
    cuda::pipeline_consumer_wait_prior<1>(pipe);
    __syncthreads();
    sum = sum * 5 + stage[i & 1][(threadIdx.x + 1) % blockDim.x];
    __syncthreads();
    pipe.consumer_release();
  }
  out[t] = sum;
}

extern "C" __global__ void together(int *out, const int *in) {
  __shared__ __align__(16) int value[96];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, value, in + blockIdx.x * blockDim.x, sizeof(int) * blockDim.x);
  cg::wait(block);
  out[blockIdx.x * blockDim.x + threadIdx.x] = value[threadIdx.x ^ 1];
}

// The wait leaves one group, and the value is in it; its twin is `waited`.
extern "C" __global__ void unwaited(int *out, const int *in) {
  __shared__ int value[96];
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  COPY("ca", 4, &value[threadIdx.x], &in[t]);
  COMMIT();
  WAIT(1);
  out[t] = value[threadIdx.x];
}

extern "C" __global__ void waited(int *out, const int *in) {
  __shared__ int value[96];
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  COPY("ca", 4, &value[threadIdx.x], &in[t]);
  COMMIT();
  WAIT(0);
  out[t] = value[threadIdx.x];
}

// Each thread waits for its own copy and reads another's; its twins are `sizes` and `waited`.
extern "C" __global__ void unordered(int *out, const int *in) {
  __shared__ int value[96];
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  COPY("ca", 4, &value[threadIdx.x], &in[t]);
  COMMIT();
  WAIT(0);
  out[t] = value[(threadIdx.x + 32) % 96];
}
