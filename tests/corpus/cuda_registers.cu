// Four warps fill a ring of two places, having given back registers, and eight empty it, having asked for more
// (setmaxnreg), as kernels do that have a group of warps for loads and others that compute.
// PTX: as traces/make_ptx.sh, but -arch=sm_90a
#include <cuda/ptx>

namespace ptx = cuda::ptx;
enum { GROUP = 128, PLACES = 2, WORDS = 2 * GROUP };

static __device__ void wait(uint64_t *barrier, int phase) {
  while (!ptx::mbarrier_try_wait_parity(barrier, phase)) {
  }
}

template <int EMPTIED> static __device__ void pass(const int *in, int *out, int rounds) {
  __shared__ int place[PLACES][WORDS];
  __shared__ alignas(8) uint64_t full[PLACES], empty[PLACES];
  if (threadIdx.x == 0)
    for (int i = 0; i < PLACES; i++) {
      ptx::mbarrier_init(&full[i], GROUP);
      ptx::mbarrier_init(&empty[i], EMPTIED);
    }
  __syncthreads();
  if (threadIdx.x < GROUP) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    for (int round = 0; round < rounds; round++) {
      int at = round % PLACES;
      wait(&empty[at], round / PLACES & 1 ^ 1);
      for (int i = threadIdx.x; i < WORDS; i += GROUP)
        place[at][i] = in[round * WORDS + i];
      ptx::mbarrier_arrive(&full[at]);
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    int lane = threadIdx.x - GROUP, sum = 0;
    for (int round = 0; round < rounds; round++) {
      int at = round % PLACES;
      wait(&full[at], round / PLACES & 1);
      sum += place[at][lane];
      ptx::mbarrier_arrive(&empty[at]);
    }
    out[lane] = sum;
  }
}

extern "C" __global__ void __launch_bounds__(3 * GROUP, 1) registers(const int *in, int *out, int rounds) {
  pass<WORDS>(in, out, rounds);
}
// Those who fill are counted among those who empty, and never come.
extern "C" __global__ void __launch_bounds__(3 * GROUP, 1) registers_all(const int *in, int *out, int rounds) {
  pass<3 * GROUP>(in, out, rounds);
}
