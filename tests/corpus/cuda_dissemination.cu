// A barrier of the warps of a block by flags in shared memory: in step s each warp tells the one that is 2^s further, and waits to be told.
// PTX: traces/make_ptx.sh cuda_dissemination.cu
#include <cuda/atomic>

using Flag = cuda::atomic_ref<int, cuda::thread_scope_block>;
enum { STEPS = 3, WARPS = 1 << STEPS };

template <int STEPS_MADE> static __device__ void meet(int (*told)[STEPS], int warp, int meeting) {
  for (int step = 0; step < STEPS_MADE; step++) {
    Flag(told[(warp + (1 << step)) % WARPS][step]).store(meeting, cuda::memory_order_release);
    while (Flag(told[warp][step]).load(cuda::memory_order_acquire) < meeting) {
    }
  }
}
// Each warp reads what the one before it has written. `early`: that one leaves behind its first round.
template <int STEPS_MADE> static __device__ void rounds_of(int *out, int rounds, int early) {
  __shared__ int told[WARPS][STEPS], value[WARPS];
  if (threadIdx.x < WARPS * STEPS)
    told[threadIdx.x / STEPS][threadIdx.x % STEPS] = 0;
  __syncthreads();
  int warp = threadIdx.x / 32, sum = 0;
  if (threadIdx.x % 32)
    return;
  for (int round = 1; round <= rounds && (warp != early || round == 1); round++) {
    value[warp] = round;
    meet<STEPS_MADE>(told, warp, 2 * round - 1);
    sum += value[(warp + WARPS - 1) % WARPS] + value[(warp + WARPS / 2) % WARPS];
    meet<STEPS_MADE>(told, warp, 2 * round);
  }
  out[warp] = sum;
}
extern "C" __global__ void dissemination(int *out, int rounds) { rounds_of<STEPS>(out, rounds, -1); }
extern "C" __global__ void dissemination_short(int *out, int rounds) { rounds_of<STEPS - 1>(out, rounds, -1); }
extern "C" __global__ void dissemination_left(int *out, int rounds) { rounds_of<STEPS>(out, rounds, 5); }
