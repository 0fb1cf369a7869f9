// Barriers of the whole grid. Each round every block adds its number to a cell of the next round's array and checks that
// all of the round before are there.
#include "util.cuh"
__device__ __forceinline__ u32 ldacq(const u32 *p) { u32 v; asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
__device__ __forceinline__ void strel(u32 *p, u32 v) { asm volatile("st.release.gpu.global.u32 [%0], %1;" :: "l"(p), "r"(v) : "memory"); }

// Sense-reversing: one counter, one sense word.
__device__ __forceinline__ void sense_wait(u32 *count, u32 *sense, u32 &mine) {
  __syncthreads();
  if (threadIdx.x == 0) {
    mine ^= 1;
    __threadfence();
    if (atomicAdd(count, 1) == gridDim.x - 1) {
      *(volatile u32 *)count = 0;
      __threadfence();
      *(volatile u32 *)sense = mine;
    } else
      while (*(volatile u32 *)sense != mine) ;
    __threadfence();
  }
  __syncthreads();
}
// Combining tree of fan-in 8, wake-up by one generation word.
__device__ __forceinline__ void tree_wait(u32 *nodes, u32 *generation, u32 round) {
  __syncthreads();
  if (threadIdx.x == 0) {
    u32 level = 0, at = blockIdx.x, width = gridDim.x;
    bool last = true;
    while (last && width > 1) {
      u32 group = at / 8, of = min(8u, width - group * 8);
      u32 got = aref<u32>(nodes[(level + group) * 32]).fetch_add(1, memory_order_acq_rel) + 1;
      last = got == of * round;
      width = (width + 7) / 8; level += width; at = group;
    }
    if (last) strel(generation, round);
    else while (ldacq(generation) != round) ;
  }
  __syncthreads();
}
// Dissemination: log2 rounds, block b tells b + 2^k.
__device__ __forceinline__ void dissemination_wait(u32 *flags, u32 round) {
  __syncthreads();
  if (threadIdx.x == 0)
    for (u32 k = 0, d = 1; d < gridDim.x; k++, d *= 2) {
      u32 to = (blockIdx.x + d) % gridDim.x;
      aref<u32>(flags[(k * gridDim.x + to) * 8]).store(round, memory_order_release);
      while (ldacq(flags + (k * gridDim.x + blockIdx.x) * 8) < round) ;
    }
  __syncthreads();
}
template <int KIND> __device__ __forceinline__ void rounds(u32 *words, u32 *cells, int n, u32 *bad) {
  u32 mine = 0, wrong = 0;
  for (int r = 1; r <= n; r++) {
    if (threadIdx.x == blockDim.x - 1) cells[(r & 1) * gridDim.x + blockIdx.x] = r + blockIdx.x;
    if (KIND == 0) sense_wait(words, words + 32, mine);
    if (KIND == 1) tree_wait(words + 32, words, r);
    if (KIND == 2) dissemination_wait(words, r);
    u32 other = (blockIdx.x + 1 + threadIdx.x) % gridDim.x;
    wrong += cells[(r & 1) * gridDim.x + other] != r + other;
  }
  if (wrong) atomicAdd(bad, wrong);
}
__global__ void gbar_sense(u32 *words, u32 *cells, int n, u32 *bad) { rounds<0>(words, cells, n, bad); }
__global__ void gbar_tree(u32 *words, u32 *cells, int n, u32 *bad) { rounds<1>(words, cells, n, bad); }
__global__ void gbar_dissemination(u32 *words, u32 *cells, int n, u32 *bad) { rounds<2>(words, cells, n, bad); }
