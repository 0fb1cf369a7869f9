// Threads that want one word: a spin lock around nothing, around a word that is counted up, with fences, and an addition by compare-and-swap.
// How long an operation takes, and how many tries. Nothing in machines is fitted on these rows.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o word_locks word_locks.cu
// Run:   ./word_locks > word_locks.csv
// PTX for the simulator: nvcc -ptx -arch=sm_90 -std=c++17 -DKERNELS; machine code: nvcc -cubin, the same.
// Rows: n lanes of each warp; `accesses` operations in all, as many of each thread. The word lies on another page in each of PAGES runs: its
// home is in one half of the L2 or the other, and the SMs are near or far: `cycles` is the median over runs. Loops end with their threads' operations;
// the host ends the program if they don't.
#ifdef KERNELS
typedef unsigned long long Word;
#else
#include "mem.cuh"
typedef unsigned long long Word;
#endif

enum Kind { LOCK, VOLATILE, PLAIN, FENCED, ADD };

template <Kind KIND> __device__ __forceinline__ unsigned operate(int *word, int *total) {
  unsigned tries = 0;
  if constexpr (KIND == ADD) {
    int old = *(volatile int *)word, assumed;
    do {
      assumed = old;
      old = atomicCAS(word, assumed, assumed + 1);
      tries++;
    } while (old != assumed);
    return tries;
  } else {
    do
      tries++;
    while (atomicCAS(word, 0, 1) != 0);
    if (KIND == FENCED)
      __threadfence();
    if (KIND == VOLATILE || KIND == FENCED)
      *(volatile int *)total = *(volatile int *)total + 1;
    if (KIND == PLAIN)
      *total = *total + 1;
    if (KIND == FENCED)
      __threadfence();
    atomicExch(word, 0);
    return tries;
  }
}

template <Kind KIND> __device__ __forceinline__ void repeat(int *word, int *total, Word *tries, int each, int lanes) {
  if (threadIdx.x % 32 >= lanes)
    return;
  Word sum = 0;
  for (int i = 0; i < each; i++)
    sum += operate<KIND>(word, total);
  atomicAdd(tries, sum);
}

#define KERNEL(name, kind)                                                                   \
  extern "C" __global__ void name(int *word, int *total, Word *tries, int each, int lanes) { \
    repeat<kind>(word, total, tries, each, lanes);                                           \
  }
KERNEL(lock, LOCK)
KERNEL(lock_volatile, VOLATILE)
KERNEL(lock_plain, PLAIN)
KERNEL(lock_fenced, FENCED)
KERNEL(add, ADD)

#ifndef KERNELS
enum { PAGES = 16, APART = 37 * 1024, OPERATIONS = 2048 };

int main() {
  static const struct {
    const char *name;
    void (*kernel)(int *, int *, Word *, int, int);
  } kinds[] = {{"lock", lock},
               {"lock_volatile", lock_volatile},
               {"lock_plain", lock_plain},
               {"lock_fenced", lock_fenced},
               {"add", add}};
  static const int shapes[][3] = {{1, 32, 1},   {1, 32, 2},   {1, 32, 8},    {1, 32, 32},  {1, 64, 1},
                                  {1, 128, 1},  {1, 512, 1},  {1, 512, 32},  {2, 32, 1},   {4, 32, 1},
                                  {8, 32, 1},   {32, 32, 1},  {132, 32, 1},  {4, 32, 32},  {16, 32, 32},
                                  {32, 32, 32}, {32, 64, 32}, {132, 32, 32}, {132, 128, 1}};
  mem_begin();
  alarm(120);
  Buffer<int> words(1 << 20);
  Buffer<Word> tries(1);
  cudaEvent_t begin, end;
  cudaEventCreate(&begin), cudaEventCreate(&end);
  for (auto &kind : kinds)
    for (auto &[blocks, threads, lanes] : shapes) {
      int each = std::max(1, OPERATIONS / (blocks * (threads / 32) * lanes)),
          operations = each * blocks * (threads / 32) * lanes;
      std::vector<double> cycles, tried;
      for (int run = -1; run < PAGES; run++) {
        int *word = words.data + std::max(run, 0) * APART;
        words.clear(), tries.clear();
        cudaEventRecord(begin);
        kind.kernel<<<blocks, threads>>>(word, word + 11 * 1024, tries.data, each, lanes);
        cudaEventRecord(end);
        finish(kind.name);
        float milliseconds;
        cudaEventElapsedTime(&milliseconds, begin, end);
        if (run < 0)
          continue;
        cycles.push_back(milliseconds * 1980e3);
        tried.push_back((double)tries.get()[0]);
      }
      row("word_locks", kind.name, blocks, threads, lanes, operations, cycles);
      row("word_locks", std::string(kind.name) + ": tries", blocks, threads, lanes, operations, tried);
    }
}
#endif
