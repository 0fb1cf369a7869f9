// Copies in bulk as the CUDA C++ Programming Guide and pipelines of matrix libraries have them, by libcu++ and by hand: global to shared memory
// with a barrier that counts bytes, and back with groups. Beside it its PTX (nvcc -ptx -lineinfo -arch=sm_90), file names made bare, and the
// machine code that ptxas makes of that.
#include <cuda/barrier>
#include <cuda/ptx>

using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;
namespace ptx = cuda::ptx;

enum { TILE = 256, STAGES = 4 };

// The guide's example: one tile in, one added, one tile out.
extern "C" __global__ void add_one(int *data, int offset) {
  __shared__ alignas(16) int tile[TILE];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_global_to_shared(tile, data + offset, sizeof(tile), bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(tile));
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  for (int i = threadIdx.x; i < TILE; i += blockDim.x)
    tile[i] += 1;
  cde::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_shared_to_global(data + offset, tile, sizeof(tile));
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
  }
}

// The same, but cuda::memcpy_async expects the bytes already, and the arrival does so once more: nobody gets past the wait.
extern "C" __global__ void expects_twice(int *data) {
  __shared__ alignas(16) int tile[TILE];
  __shared__ barrier bar;
  if (threadIdx.x == 0)
    init(&bar, blockDim.x);
  __syncthreads();
  barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::memcpy_async(tile, data, cuda::aligned_size_t<16>(sizeof(tile)), bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(tile));
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  data[threadIdx.x] = tile[threadIdx.x] + 1;
}

// By cuda::memcpy_async alone: the library chooses the bulk copy.
extern "C" __global__ void copy_async(int *data, int *out) {
  __shared__ alignas(16) int tile[TILE];
  __shared__ barrier bar;
  if (threadIdx.x == 0)
    init(&bar, blockDim.x);
  __syncthreads();
  if (threadIdx.x == 0)
    cuda::memcpy_async(tile, data, cuda::aligned_size_t<16>(sizeof(tile)), bar);
  bar.arrive_and_wait();
  for (int i = threadIdx.x; i < TILE; i += blockDim.x)
    out[i] = 2 * tile[i];
}

// cuda::ptx, and a reduction in bulk at the end.
extern "C" __global__ void sum_tiles(const int *data, int *sums, int tiles) {
  __shared__ alignas(16) int tile[TILE];
  __shared__ alignas(16) int sum[TILE];
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  for (int i = threadIdx.x; i < TILE; i += blockDim.x)
    sum[i] = 0;
  __syncthreads();
  for (int t = blockIdx.x, round = 0; t < tiles; t += gridDim.x, round++) {
    if (threadIdx.x == 0) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(tile));
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, data + t * TILE, sizeof(tile), &bar);
    }
    while (!ptx::mbarrier_try_wait_parity(&bar, round & 1))
      ;
    for (int i = threadIdx.x; i < TILE; i += blockDim.x)
      sum[i] += tile[i];
    __syncthreads();
  }
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, sums, sum, sizeof(sum));
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  }
}

// A warp that loads, and others that compute: a ring of stages with a full and an empty barrier each.
static __device__ __forceinline__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
static __device__ __forceinline__ void wait(uint64_t *bar, unsigned parity) {
  asm volatile("{\n.reg .pred p;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra LAB_WAIT;\nDONE:\n}" ::"r"(at(bar)), "r"(parity)
               : "memory");
}
extern "C" __global__ void pipeline(const int *data, int *out, int tiles) {
  __shared__ alignas(128) int ring[STAGES][TILE];
  __shared__ uint64_t full[STAGES], empty[STAGES];
  unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, consumers = blockDim.x / 32 - 1;
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; i++) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full[i])) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(&empty[i])), "r"(consumers) : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (warp == 0) {
    if (lane == 0) {
      uint64_t policy;
      asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
      for (int t = 0; t < tiles; t++) {
        int stage = t % STAGES;
        wait(&empty[stage], (t / STAGES & 1) ^ 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&full[stage])), "n"(sizeof(int) * TILE) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(at(ring[stage])), "l"(data + t * TILE),
                     "n"(sizeof(int) * TILE), "r"(at(&full[stage])), "l"(policy)
                     : "memory");
      }
    }
  } else {
    int sum = 0;
    for (int t = 0; t < tiles; t++) {
      int stage = t % STAGES;
      wait(&full[stage], t / STAGES & 1);
      for (int i = threadIdx.x - 32; i < TILE; i += 32 * consumers)
        sum += ring[stage][i];
      __syncwarp();
      if (lane == 0)
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(&empty[stage])) : "memory");
    }
    atomicAdd(out, sum);
  }
}
