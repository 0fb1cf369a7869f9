// twins.cuh - what the programs of this folder share. They are pairs that differ in one place: of each, _dead can't end and _live ends. Four participants: lanes of one warp (lanes), the
// first lanes of four warps, through shared memory (warps), or the first threads of four blocks (blocks).
#define BOTH(name)                                                                             \
  extern "C" __global__ void name##_lanes_dead(int *x) { name<LANES, true>(setup<LANES>(x)); } \
  extern "C" __global__ void name##_lanes_live(int *x) { name<LANES, false>(setup<LANES>(x)); } \
  extern "C" __global__ void name##_warps_dead(int *x) { name<WARPS, true>(setup<WARPS>(x)); } \
  extern "C" __global__ void name##_warps_live(int *x) { name<WARPS, false>(setup<WARPS>(x)); } \
  extern "C" __global__ void name##_blocks_dead(int *x) { name<BLOCKS, true>(setup<BLOCKS>(x)); } \
  extern "C" __global__ void name##_blocks_live(int *x) { name<BLOCKS, false>(setup<BLOCKS>(x)); }

enum Scope { LANES, WARPS, BLOCKS };
enum { N = 4, WORDS = 64 };
typedef volatile int Word;

template <Scope S> __device__ Word *setup(int *x) {
  __shared__ int words[WORDS];
  if (S != WARPS)
    return x;
  if (threadIdx.x < WORDS)
    words[threadIdx.x] = 0;
  __syncthreads();
  return words;
}

// Which participant the thread is; N: none.
template <Scope S> __device__ int me() {
  return S == LANES    ? min((int)threadIdx.x, (int)N)
         : S == WARPS  ? threadIdx.x % 32 ? N : threadIdx.x / 32
                       : threadIdx.x ? N : blockIdx.x;
}

__device__ int add(Word *word, int n) { return atomicAdd((int *)word, n); }
__device__ int swap(Word *word, int n) { return atomicExch((int *)word, n); }
__device__ int cas(Word *word, int from, int to) { return atomicCAS((int *)word, from, to); }
__device__ void lock(Word *word) {
  while (cas(word, 0, 1) != 0)
    ;
  __threadfence();
}
__device__ void unlock(Word *word) {
  __threadfence();
  swap(word, 0);
}

