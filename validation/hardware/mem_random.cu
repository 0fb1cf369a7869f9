// A crowd on random words: all warps but the first of each block try compare-and-swaps that fail (or add 0), each lane on the first word of a
// random one of `n` pairs; one lane of the first warp loads the second words of random pairs, or of others that nobody else wants. What an
// access takes, each behind the one before. Says how fast an SM, and all, send and serve atomic operations on distinct sectors, and what
// loads of their lines wait for.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_random mem_random.cu
// Run:   ./mem_random > mem_random.csv
// Variants: `atom.cas that fails`, `atom.add` (n: pairs), and `load beside them; own lines` or `; other lines`: the mean of all blocks.
#include "mem.cuh"

enum { LOADS = 100, WARM_UP = 20 };

static __device__ unsigned mixed(unsigned h) {
  h = (h ^ h >> 16) * 0x85EBCA6Bu;
  h = (h ^ h >> 13) * 0xC2B2AE35u;
  return h ^ h >> 16;
}

// `sums`: cycles and number of the loads, then of the atomic operations, of one warp each time. What is read is 0.
__global__ void crowd(unsigned *pairs, unsigned count, unsigned loads_at, int adds, unsigned long long *sums) {
  __shared__ volatile int done;
  if (threadIdx.x == 0)
    done = 0;
  __syncthreads();
  unsigned seed = (blockIdx.x * blockDim.x + threadIdx.x) * 0x9E3779B9u, seen = 0, tries = 0;
  long long begun = now();
  if (threadIdx.x / 32) {
    while (!done) {
      seed += 0x9E3779B9u;
      unsigned *word = pairs + 2 * (mixed(seed + seen) & (count - 1));
      if (adds)
        asm volatile("atom.global.add.u32 %0, [%1], 0;" : "=r"(seen) : "l"(word) : "memory");
      else
        asm volatile("atom.global.cas.b32 %0, [%1], 7, 8;" : "=r"(seen) : "l"(word) : "memory");
      tries++;
    }
  } else if (threadIdx.x == 0) {
    for (int i = 0; i < LOADS + WARM_UP; i++) {
      if (i == WARM_UP)
        begun = now_with(seen);
      seed += 0x9E3779B9u;
      seen = touch<LOAD_VOLATILE>(pairs + loads_at + 2 * (mixed(seed + seen) & (count - 1)) + 1);
    }
    tries = LOADS;
  }
  unsigned long long spent = now_with(seen) - begun;
  if (threadIdx.x == 0)
    done = 1;
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&sums[threadIdx.x ? 2 : 0], spent);
    atomicAdd(&sums[threadIdx.x ? 3 : 1], (unsigned long long)tries);
  }
}

int main() {
  mem_begin();
  Buffer<unsigned> words(4 << 20);
  Buffer<unsigned long long> sums(4);
  words.clear();
  for (unsigned count : {1u << 10, 1u << 15, 1u << 20})
    for (int warps : {2, 9, 32})
      for (int blocks : {1, 8, 28, 56, 112, 132})
        for (int adds : {0, 1})
          for (int apart : {0, 1}) {
            std::vector<double> load, tries;
            for (int run = 0; run < 7; run++) {
              sums.clear();
              crowd<<<blocks, 32 * warps>>>(words.data, count, apart ? 2 * count : 0, adds, sums.data);
              finish("crowd");
              std::vector<unsigned long long> sum = sums.get();
              load.push_back((double)sum[0] / sum[1]);
              tries.push_back((double)sum[2] / sum[3]);
            }
            const char *op = adds ? "atom.add" : "atom.cas that fails";
            char name[80];
            snprintf(name, sizeof name, "%s; loads of %s lines", op, apart ? "other" : "their");
            row("random", name, blocks, 32 * warps, count, 1, tries);
            snprintf(name, sizeof name, "load of %s lines beside %s", apart ? "other" : "their", op);
            row("random", name, blocks, 32 * warps, count, 1, load);
          }
  return 0;
}
