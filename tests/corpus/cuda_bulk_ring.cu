// A ring of two places: one thread fills them by copies in bulk, two warps empty them, with a barrier in shared
// memory for full places and one for empty ones. It begins with empty ones: the phase before the first is over.
#include <cuda/ptx>

namespace ptx = cuda::ptx;
enum { PLACES = 2, WORDS = 64, WARP = 32 };

template <int BEFORE> static __device__ void ring(const int *in, int *out, int rounds) {
  __shared__ alignas(128) int place[PLACES][WORDS];
  __shared__ alignas(8) uint64_t full[PLACES], empty[PLACES];
  if (threadIdx.x == 0) {
    for (int i = 0; i < PLACES; i++) {
      ptx::mbarrier_init(&full[i], 1);
      ptx::mbarrier_init(&empty[i], WORDS);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  int sum = 0;
  if (threadIdx.x / WARP == WORDS / WARP) {
    if (threadIdx.x % WARP == 0)
      for (int round = 0; round < rounds; round++) {
        int at = round % PLACES, phase = round / PLACES & 1;
        while (!ptx::mbarrier_try_wait_parity(&empty[at], phase ^ BEFORE)) {
        }
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[at], sizeof place[at]);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, place[at], in + round * WORDS, sizeof place[at],
                           &full[at]);
      }
  } else {
    for (int round = 0; round < rounds; round++) {
      int at = round % PLACES, phase = round / PLACES & 1;
      while (!ptx::mbarrier_try_wait_parity(&full[at], phase)) {
      }
      sum += place[at][WORDS - 1 - threadIdx.x];
      ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &empty[at]);
    }
    out[threadIdx.x] = sum;
  }
}
extern "C" __global__ void bulk_ring(const int *in, int *out, int rounds) { ring<1>(in, out, rounds); }
extern "C" __global__ void bulk_ring_same_phase(const int *in, int *out, int rounds) { ring<0>(in, out, rounds); }
