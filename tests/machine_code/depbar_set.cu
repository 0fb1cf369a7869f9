// cuda::pipeline with three stages: ptxas 13.0 waits for a scoreboard by the set of a DEPBAR. nvcc -cubin -arch=sm_86
#include <cuda/pipeline>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(const unsigned *in, unsigned *out, int n) {
  auto g = cg::this_thread_block();
  __shared__ unsigned buf[3][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> st;
  auto p = cuda::make_pipeline(g, &st);
  unsigned t = threadIdx.x, sum = 0;
  int f = 0;
  for (int c = 0; c < n; c++) {
    for (; f < n && f < c + 3; f++) {
      p.producer_acquire();
      cuda::memcpy_async(g, buf[f % 3], in + f * 64, cuda::aligned_size_t<16>(256), p);
      p.producer_commit();
    }
    p.consumer_wait();
    sum += buf[c % 3][63 - t];
    p.consumer_release();
  }
  out[blockIdx.x * 64 + t] = sum;
}
