// A counter in shared memory goes from `n` down to 0, by one thread. In each round it writes 0 and 1 by turns `inner` times to another
// word and looks whether it is to stop, so that most of what it does repeats. `alone`: one thread. `beside_pollers`: the other warps
// poll, under a lock that comes back, for its end.
// PTX: see make_ptx.sh.
#define ALL ~0u
static __device__ __forceinline__ unsigned first(unsigned v) { return __shfl_sync(ALL, v, 0); }
typedef volatile unsigned *W;
static __device__ __forceinline__ void count_down(W v, unsigned n, unsigned inner) { // v: counter, turn, stop
  v[0] = n;
  v[2] = 0;
  while (v[0]) {
    v[0] = v[0] - 1;
#pragma unroll 1
    for (unsigned i = 0; i < inner; i++) {
      v[1] = i & 1;
      if (v[2]) break;
    }
  }
}
extern "C" __global__ void alone(W done, unsigned n, unsigned inner) {
  __shared__ volatile unsigned v[3];
  if (threadIdx.x == 0) {
    count_down(v, n, inner);
    *done = 1;
  }
}
extern "C" __global__ void beside_pollers(W done, unsigned n, unsigned inner) {
  __shared__ volatile unsigned v[3];
  __shared__ unsigned busy;
  unsigned lane = threadIdx.x % 32;
  if (threadIdx.x == 0) busy = 0;
  __syncthreads();
  if (threadIdx.x / 32 == 0) {
    if (lane == 0) {
      count_down(v, n, inner);
      *done = 1;
    }
    return;
  }
  bool ready = false;
  do {
    if (first(lane == 0 ? atomicExch(&busy, 1) : 0)) continue;
    __threadfence_block();
    ready = first(*done);
    __threadfence_block();
    __syncwarp();
    if (lane == 0) atomicExch(&busy, 0);
  } while (!__any_sync(ALL, ready));
}
