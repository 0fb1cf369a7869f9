// Copies to shared memory that begin before all threads have read what they overwrite.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;
enum { THREADS = 64, STAGES = 4 };

// Two stages: the next one is on its way while this one is read.
template <bool SYNC> static __device__ void two_stages(const int *in, int *out) {
  __shared__ int stage[2][THREADS];
  int me = threadIdx.x, sum = 0;
  __pipeline_memcpy_async(&stage[0][me], &in[me], sizeof(int));
  __pipeline_commit();
  for (int i = 0; i < STAGES; i++) {
    if (i + 1 < STAGES)
      __pipeline_memcpy_async(&stage[(i + 1) & 1][me], &in[(i + 1) * THREADS + me], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += stage[i & 1][THREADS - 1 - me];
    if (SYNC)
      __syncthreads();
  }
  out[me] = sum;
}
extern "C" __global__ void stages(const int *in, int *out) { two_stages<true>(in, out); }
extern "C" __global__ void stages_early(const int *in, int *out) { two_stages<false>(in, out); }

// One tile, by copies in bulk.
template <bool SYNC> static __device__ void one_tile(const int *in, int *out) {
  __shared__ alignas(16) int tile[THREADS];
  __shared__ cuda::barrier<cuda::thread_scope_block> come;
  auto block = cg::this_thread_block();
  int me = threadIdx.x, sum = 0;
  if (me == 0)
    init(&come, THREADS);
  block.sync();
  for (int i = 0; i < STAGES; i++) {
    cuda::memcpy_async(block, tile, in + i * THREADS, cuda::aligned_size_t<16>(sizeof tile), come);
    come.arrive_and_wait();
    sum += tile[THREADS - 1 - me];
    if (SYNC)
      block.sync();
  }
  out[me] = sum;
}
extern "C" __global__ void tile_in_bulk(const int *in, int *out) { one_tile<true>(in, out); }
extern "C" __global__ void tile_in_bulk_early(const int *in, int *out) { one_tile<false>(in, out); }
