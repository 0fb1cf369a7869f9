// Two warps take two locks in opposite orders. Other warps poll, under a lock that comes back, for a word that the two would set
// behind their locks. A kernel behind it in the stream would set the word, too: that would let the pollers go, but never the two.
// PTX: see make_ptx.sh.
#define ALL ~0u
static __device__ __forceinline__ unsigned first(unsigned v) { return __shfl_sync(ALL, v, 0); }
typedef volatile unsigned *W;
enum { FLAG, BUSY, LOCK = 10, COME = 12 };
extern "C" __global__ void abba_and_pollers(unsigned *w) {
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (warp < 2) {
    if (lane) return;
    while (atomicCAS(&w[LOCK + warp], 0, 1));
    atomicAdd(&w[COME], 1);
    while (((W)w)[COME] < 2);
    while (atomicCAS(&w[LOCK + 1 - warp], 0, 1));
    ((W)w)[FLAG] = 1;
    atomicExch(&w[LOCK], 0);
    atomicExch(&w[LOCK + 1], 0);
    return;
  }
  bool ready = false;
  do {
    if (first(lane == 0 ? atomicExch(&w[BUSY], 1) : 0)) continue;
    __threadfence();
    ready = first(((W)w)[FLAG]);
    __threadfence();
    __syncwarp();
    if (lane == 0) atomicExch(&w[BUSY], 0);
  } while (!__any_sync(ALL, ready));
}
extern "C" __global__ void sets(unsigned *w) { if (threadIdx.x == 0) ((W)w)[FLAG] = 1; }
