// arch: sm_90
// Less usual means: latch, atomic wait and notify, pipeline with memcpy_async, match_any aggregation, cg::reduce, half-word CAS,
// floating-point maximum by CAS, barrier with a vote.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/latch>
#include <cuda/pipeline>
#include "util.cuh"
namespace cg = cooperative_groups;
using latch = cuda::latch<cuda::thread_scope_device>;
__global__ void make_latches(latch *l, int rounds, int n) { if (threadIdx.x < rounds) new (&l[threadIdx.x * 16]) latch(n); }
// Blocks count a latch down each round, and wait for it.
__global__ void latches(latch *l, int rounds, u32 *cells, u32 *bad) {
  u32 wrong = 0;
  for (int r = 0; r < rounds; r++) {
    if (threadIdx.x == 0) { cells[r * gridDim.x + blockIdx.x] = r + 1; l[r * 16].arrive_and_wait(); }
    __syncthreads();
    wrong += cells[r * gridDim.x + (blockIdx.x + 1 + threadIdx.x) % gridDim.x] != r + 1;
  }
  if (wrong) atomicAdd(bad, wrong);
}
// atomic wait / notify_all: block 0 publishes numbers, others wait for each and acknowledge.
__global__ void notify(u32 *word, u32 *acks, int rounds, u32 *sum) {
  if (threadIdx.x) return;
  aref<u32> w(*word), a(*acks);
  u32 total = 0;
  for (u32 r = 1; r <= rounds; r++)
    if (blockIdx.x == 0) {
      w.store(r, memory_order_release);
      w.notify_all();
      while (a.load(memory_order_acquire) != r * (gridDim.x - 1)) ;
    } else {
      w.wait(r - 1, memory_order_acquire);
      total += w.load(memory_order_relaxed);
      a.fetch_add(1, memory_order_release);
    }
  if (total) atomicAdd(sum, total);
}
// cuda::pipeline of a block: two stages of memcpy_async.
__global__ void pipeline(const u32 *in, int tiles, u32 *out) {
  __shared__ u32 s[2][256];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  const u32 *mine = in + blockIdx.x * tiles * blockDim.x;
  u32 sum = 0;
  pipe.producer_acquire();
  cuda::memcpy_async(block, s[0], mine, sizeof(u32) * blockDim.x, pipe);
  pipe.producer_commit();
  for (int t = 0; t < tiles; t++) {
    if (t + 1 < tiles) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, s[(t + 1) & 1], mine + (t + 1) * blockDim.x, sizeof(u32) * blockDim.x, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += s[t & 1][(threadIdx.x * 7 + 1) % blockDim.x];
    pipe.consumer_release();
  }
  atomicAdd(out, sum);
}
// Histogram, lanes of equal bins together by match_any.
__global__ void match_hist(const u32 *in, u32 n, u32 bins, u32 *out) {
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    u32 b = in[i] % bins;
    u32 same = __match_any_sync(__activemask(), b);
    if (__ffs(same) - 1 == threadIdx.x % 32) atomicAdd(&out[b], __popc(same));
  }
}
// Tiles of 16 lanes add up, then one lane takes a tiny lock of 16 bits beside another one in the word.
__global__ void tiles(const u32 *in, unsigned short *locks, u32 *sums, int each) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  for (int i = 0; i < each; i++) {
    u32 s = cg::reduce(tile, in[(blockIdx.x * blockDim.x + threadIdx.x) * each + i], cg::plus<u32>());
    if (tile.thread_rank() == 0) {
      u32 which = mix(s + blockIdx.x * 64 + threadIdx.x + i) % 8;
      for (bool done = false; !done;)
        if (atomicCAS(&locks[which], (unsigned short)0, (unsigned short)1) == 0) {
          __threadfence();
          ((volatile u32 *)sums)[which] += s;
          __threadfence();
          *(volatile unsigned short *)&locks[which] = 0;
          done = true;
        }
    }
  }
}
// The largest of floats by compare-and-swap, and whether anybody was above a limit by a barrier with a vote.
__global__ void fmax_cas(const float *in, int each, u32 *best, u32 *over) {
  float m = 0;
  for (int i = 0; i < each; i++) {
    float v = in[(blockIdx.x * each + i) * blockDim.x + threadIdx.x];
    if (__syncthreads_count(v > 0.75f) && threadIdx.x == 0) atomicAdd(over, 1);
    if (v > m) {
      m = v;
      u32 old = *(volatile u32 *)best;
      while (__uint_as_float(old) < v) {
        u32 seen = atomicCAS(best, old, __float_as_uint(v));
        if (seen == old) break;
        old = seen;
      }
    }
  }
}
