// Loads of the words that all blocks have just stored, as behind a barrier of the grid: how long they take, and what a fence takes beside them.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_hot mem_hot.cu; -cubin, -ptx for the files beside it
// Run:   ./mem_hot > mem_hot.csv
// A row: which words a warp loads (0: 32 from its own block's on, of two lines; 1: a line), how (0 volatile, 1 ld.cg, 2 plain), whether each block's word is
// stored in each round, what is measured (0: from issue to the value; 1: a store and a fence of thread 0 behind a block barrier, the values of the loads not
// used before; 2: the same, used; 3: the rest of a barrier of the grid), who loads and is measured (0: all; 1: the blocks of half of the SMs; 2: those load, and
// the others are measured), cycles that thread 0 waits before the next round, blocks, warps of each; cycles, the mean over warps, or over blocks.
// mem_hot.yaml runs the same kernels in lockstep, with the same output.
#include "hardware.cuh"

enum { ROUNDS = 12, WARM_UP = 2 };

static __device__ __forceinline__ unsigned now() {
  unsigned t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}
// The time at which `value` has come.
static __device__ __forceinline__ unsigned now_with(unsigned value) {
  static __shared__ unsigned sink[32];
  asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(sink + threadIdx.x % 32)), "r"(value) : "memory");
  return now();
}
static __device__ __forceinline__ unsigned look(const unsigned *at, int how) {
  unsigned value;
  if (how == 0)
    asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  else if (how == 1)
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  else
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}

extern "C" __global__ void hot(unsigned *count, unsigned *cells, int pattern, int how, int stored, int what, int who, unsigned delay, unsigned *out) {
  bool loads = !who || blockIdx.x % 132 < 66, counts = who < 2 ? loads : !loads;
  unsigned took = 0, value = 0, n = gridDim.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32, sum = 0, parts = n / 32;
  for (unsigned r = 1; r <= ROUNDS; r++) {
    unsigned *half = cells + (r & 1) * 4096;
    if (threadIdx.x == 0) {
      unsigned begun = now();
      if (stored)
        half[blockIdx.x] = r;
      __threadfence();
      unsigned fenced = now();
      took += (what == 1 || what == 2) && r > WARM_UP ? fenced - begun : 0;
      atomicAdd(count, 1);
      while (*(volatile unsigned *)count < r * n)
        ;
      __threadfence();
      took += what == 3 && r > WARM_UP ? now() - fenced : 0;
    }
    __syncthreads();
    const unsigned *at = half + (pattern ? (warp + blockIdx.x) % (parts ? parts : 1) * 32 + lane : (blockIdx.x + 1 + threadIdx.x) % n);
    unsigned begun = now_with(r);
    if (loads && how == 0)
      value = look(at, 0);
    if (loads && how == 1)
      value = look(at, 1);
    if (loads && how == 2)
      value = look(at, 2);
    if (what == 0 || what == 2) {
      unsigned end = now_with(value);
      took += what == 0 && r > WARM_UP ? end - begun : 0;
    }
    __syncthreads();
    for (unsigned from = now(); delay && threadIdx.x == 0 && now() - from < delay;)
      ;
    sum += value;
  }
  if (sum == 0x5eed1e55)
    out[1] = 1;
  if (counts && (what == 0 ? lane == 0 : threadIdx.x == 0))
    atomicAdd(out, took / (ROUNDS - WARM_UP));
}

extern "C" __global__ void say(const unsigned *out, int pattern, int how, int stored, int what, int who, unsigned delay, int blocks, int warps) {
  unsigned all = who ? blocks / 2 : blocks, of = what == 0 ? all * warps : all;
  printf("%d,%d,%d,%d,%d,%u,%d,%d,%.1f\n", pattern, how, stored, what, who, delay, blocks, warps, (double)*out / of);
}

static void measure(Words &words, Words &out, Words &count, int pattern, int how, int stored, int what, int who, unsigned delay, int blocks, int warps) {
  words.fill(0);
  out.fill(0);
  count.fill(0);
  hot<<<blocks, 32 * warps>>>(count.as_unsigned(), words.as_unsigned(), pattern, how, stored, what, who, delay, out.as_unsigned());
  finish("hot");
  say<<<1, 1>>>(out.as_unsigned(), pattern, how, stored, what, who, delay, blocks, warps);
  finish("say");
}

int main() {
  Words words(16384), out(2), count(1);
  puts("pattern,how,stored,what,who,delay,blocks,warps,cycles");
  for (int pattern = 0; pattern < 2; pattern++)
    for (int how = 0; how < 3; how++)
      for (int stored = 0; stored < 2; stored++)
        for (int what = 0; what < 4; what++)
          for (int blocks : {32, 132, 264})
            for (int warps : {1, 4, 16})
              measure(words, out, count, pattern, how, stored, what, 0, 0, blocks, warps);
  for (int pattern = 0; pattern < 2; pattern++)
    for (int what = 0; what < 3; what++)
      for (int who = 0; who < 3; who++)
        for (unsigned delay : {0, 100, 200, 400, 700, 1000, 1500, 2000, 3000, 5000})
          for (int blocks : {132, 264})
            measure(words, out, count, pattern, 0, 1, what, who, delay, blocks, 16);
}
