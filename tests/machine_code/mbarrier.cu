// Barriers in shared memory: cuda::barrier and PTX's mbarrier, as tests/unit/test_mc_kernels.c computes it on a CPU; and three kernels that
// tests/script/mbarrier.sh checks. Recorded: for sm in 80 86 90: nvcc -cubin -lineinfo -std=c++17 -arch=sm_$sm -o mbarrier.sm_$sm.cubin mbarrier.cu
#include <cuda/barrier>
#include <cstdint> // and <cuda/semaphore> at the end: lines are counted

using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;

extern "C" __global__ void rounds(int *out, const int *in) {
  __shared__ alignas(BlockBarrier) char storage[sizeof(BlockBarrier)];
  __shared__ int value[128];
  BlockBarrier &barrier = *reinterpret_cast<BlockBarrier *>(storage);
  int t = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  if (threadIdx.x == 0)
    init(&barrier, blockDim.x);
  __syncthreads();
  for (int i = 0; i < 4; i++) {
    value[threadIdx.x] = in[t] + i;
    barrier.arrive_and_wait();
    sum = sum * 3 + value[(threadIdx.x + 1) % blockDim.x];
    auto token = barrier.arrive();
    barrier.wait(std::move(token));
  }
  out[t] = sum;
}

// Warp 0 produces, the others consume; those who drop out are waited for no more.
extern "C" __global__ void drops(int *out, const int *in) {
  __shared__ alignas(BlockBarrier) char storage[2][sizeof(BlockBarrier)];
  __shared__ int value[32];
  BlockBarrier &full = *reinterpret_cast<BlockBarrier *>(storage[0]), &empty = *reinterpret_cast<BlockBarrier *>(storage[1]);
  int t = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = 0;
  if (threadIdx.x == 0) {
    init(&full, 32);
    init(&empty, blockDim.x - 32);
  }
  __syncthreads();
  if (warp == 0) {
    for (int i = 0; i < 5; i++) {
      if (i > 0)
        empty.wait_parity((i - 1) & 1);
      value[lane] = in[t] * (i + 1);
      (void)full.arrive();
    }
    out[t] = in[t];
    return;
  }
  for (int i = 0; i < 5; i++) {
    full.wait_parity(i & 1);
    sum = sum * 7 + value[lane ^ 1];
    if (warp == 2 && i == 2) { // it has seen enough
      empty.arrive_and_drop();
      break;
    }
    (void)empty.arrive();
  }
  out[t] = sum;
}

#define ADDRESS(x) ((unsigned)__cvta_generic_to_shared(x))

__device__ void mb_init(uint64_t *b, unsigned n) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(ADDRESS(b)), "r"(n) : "memory");
}
__device__ uint64_t mb_arrive(uint64_t *b) {
  uint64_t state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(ADDRESS(b)) : "memory");
  return state;
}
__device__ bool mb_test(uint64_t *b, uint64_t state) {
  unsigned done;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(ADDRESS(b)), "l"(state)
               : "memory");
  return done;
}

extern "C" __global__ void raw(int *out, const int *in) {
  __shared__ uint64_t barrier;
  __shared__ int value[128];
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0)
    mb_init(&barrier, blockDim.x);
  __syncthreads();
  value[threadIdx.x] = in[t];
  uint64_t state = mb_arrive(&barrier);
  while (!mb_test(&barrier, state))
    ;
  out[t] = value[threadIdx.x ^ 1];
}

// One thread too few arrives; its twin is `raw`.
extern "C" __global__ void missing(int *out, const int *in) {
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0)
    mb_init(&barrier, blockDim.x);
  __syncthreads();
  if (threadIdx.x == 5)
    return;
  uint64_t state = mb_arrive(&barrier);
  while (!mb_test(&barrier, state))
    ;
  out[threadIdx.x] = in[threadIdx.x];
}

// Nobody waits for the others' values; its twin is `raw`.
extern "C" __global__ void unwaited(int *out, const int *in) {
  __shared__ uint64_t barrier;
  __shared__ int value[128];
  if (threadIdx.x == 0)
    mb_init(&barrier, blockDim.x);
  __syncthreads();
  value[threadIdx.x] = in[threadIdx.x];
  mb_arrive(&barrier);
  out[threadIdx.x] = value[threadIdx.x ^ 32];
}

#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)
__device__ uint64_t mb_arrive_many(uint64_t *b, unsigned n) {
  uint64_t state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1], %2;" : "=l"(state) : "r"(ADDRESS(b)), "r"(n) : "memory");
  return state;
}
__device__ bool mb_try_parity(uint64_t *b, unsigned parity) {
  unsigned done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(ADDRESS(b)), "r"(parity)
               : "memory");
  return done;
}
__device__ bool mb_try_for(uint64_t *b, unsigned parity, unsigned ns) {
  unsigned done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2, %3; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(ADDRESS(b)), "r"(parity), "r"(ns)
               : "memory");
  return done;
}
#endif

// Parities, counts of arrivals, bytes that are expected and complete. On sm_80 it gives what in has.
extern "C" __global__ void hopper(int *out, const int *in) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
#if __CUDA_ARCH__ >= 900
  __shared__ uint64_t barrier[3];
  __shared__ int value[128];
  if (threadIdx.x == 0) {
    mb_init(&barrier[0], blockDim.x);
    mb_init(&barrier[1], 1);
    mb_init(&barrier[2], 2 * blockDim.x);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  for (int i = 0; i < 3; i++) {
    value[threadIdx.x] = in[t] + i;
    mb_arrive(&barrier[0]);
    while (!mb_try_parity(&barrier[0], i & 1))
      ;
    sum = sum * 3 + value[threadIdx.x ^ 1];
    mb_arrive_many(&barrier[2], 2);
    while (!mb_try_for(&barrier[2], i & 1, 1000))
      ;
  }
  if (threadIdx.x == 0) {
    uint64_t state;
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], 64;" : "=l"(state) : "r"(ADDRESS(&barrier[1])) : "memory");
    if (mb_test(&barrier[1], state)) // 64 bytes are missing
      sum = -1;
    asm volatile("mbarrier.complete_tx.shared::cta.relaxed.cluster.b64 [%0], 64;" ::"r"(ADDRESS(&barrier[1])) : "memory");
  }
  while (!mb_try_parity(&barrier[1], 0))
    ;
  __syncthreads();
  if (threadIdx.x == 0)
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(ADDRESS(&barrier[1])) : "memory");
  out[t] = sum;
#else
  for (int i = 0; i < 3; i++)
    sum = sum * 3 + in[t ^ 1] + i;
  out[t] = sum;
#endif
}

#include <cuda/semaphore>

using Semaphore = cuda::counting_semaphore<cuda::thread_scope_block, 4>;

// Two threads at a time, by generic addresses of shared memory.
extern "C" __global__ void counted(int *out, const int *in) {
  __shared__ alignas(Semaphore) char storage[sizeof(Semaphore)];
  __shared__ int total;
  Semaphore &semaphore = *reinterpret_cast<Semaphore *>(storage);
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) {
    new (&semaphore) Semaphore(2);
    total = 0;
  }
  __syncthreads();
  semaphore.acquire();
  atomicAdd(&total, in[t]);
  semaphore.release();
  __syncthreads();
  out[t] = total;
}
