// Where the lines of 64 KB lie: which pair of slices of the L2 each KB has, and which half is its home. Loads of a line wait long while all other blocks add to a
// word of its slice; of the two slices of a pair the first two granules of a KB show one each. A pair has the number of the first KB that was found there.
// Across halves a line may be taken for one of another pair, so pairs are compared within a half.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_map mem_map.cu
// Run:   ./mem_map > mem_map.csv
// A row: the KB, its first line, the pair, 1 if its granules lie in the pair's slices the other way round, 1 if its home is the other half.
#include <cstdio>
#include <vector>

typedef unsigned Word;
enum { BLOCKS = 132, THREADS = 256, MEASURED = 5, LINES = 1 << 19, LINE = 32, POSTED = 400, LOADED = 4, BEGIN = 25000, REGION = 512, KB = 8 };
enum { WAITS_IN_SLICE = 2500, FAR = 400 };

__global__ void crowded(Word *word, Word *at, volatile Word *over, Word *cycles, bool loads) {
  if (blockIdx.x != MEASURED) {
    for (int i = 0; i < 100000 && (i % 16 || !*over); i++)
      atomicAdd(word, 1);
    return;
  }
  if (threadIdx.x)
    return;
  for (long long begin = clock64(); clock64() - begin < BEGIN;)
    ;
  Word value = 0;
  long long begin = clock64();
  for (int i = 0; loads && i < LOADED; i++)
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at + (value >> 30)) : "memory");
  for (int i = 0; !loads && i < POSTED; i++)
    asm volatile("red.global.add.u32 [%0], 1;" ::"l"(at) : "memory");
  Word took = (Word)(clock64() - begin) + (value >> 30);
  *over = 1;
  *cycles = took;
}

__global__ void latency(Word *at, int block, Word *cycles) {
  Word value = 0;
  long long begin = 0;
  for (int i = 0; blockIdx.x == block && i < 12; i++) {
    begin = i == 4 ? clock64() : begin;
    asm volatile("atom.global.add.u32 %0, [%1], 0;" : "=r"(value) : "l"(at + (value >> 30)) : "memory");
  }
  if (blockIdx.x == block)
    *cycles = (Word)(clock64() - begin + (value >> 30)) / 8;
}

static Word *words, *over, *cycles;

static Word told() {
  Word host = 0;
  cudaMemcpy(&host, cycles, sizeof host, cudaMemcpyDeviceToHost);
  return host;
}
static Word beside(int word, int line, bool loads) {
  cudaMemset(over, 0, sizeof *over);
  crowded<<<BLOCKS, THREADS>>>(words + word * LINE, words + line * LINE + 8, over, cycles, loads);
  return loads ? told() / LOADED : told();
}
static bool is_far(int line, int block) {
  latency<<<BLOCKS, 1>>>(words + line * LINE, block, cycles);
  return told() >= FAR;
}

int main() {
  size_t bytes = (size_t)LINES * LINE * sizeof(Word);
  cudaMalloc(&words, bytes);
  cudaMalloc(&over, sizeof *over);
  cudaMalloc(&cycles, sizeof *cycles);
  cudaMemset(words, 0, bytes);
  int near = 0;
  while (near < BLOCKS - 1 && is_far(0, near))
    near++;
  std::vector<int> first;
  printf("kb,line,pair,swapped,far\n");
  for (int region : {0, 1, 2, 3, 16, 17, 300})
    for (int kb = 0; kb < REGION / KB; kb++) {
      int line = region * REGION + kb * KB, pair = -1, swapped = 0;
      for (size_t i = 0; i < first.size() && pair < 0; i++)
        for (swapped = 0; swapped < 2 && pair < 0; swapped++)
          pair = beside(first[i], line + 2 * swapped, true) > WAITS_IN_SLICE ? (int)i : -1;
      if (pair < 0) {
        pair = (int)first.size();
        swapped = 1;
        first.push_back(line);
      }
      printf("%d,%d,%d,%d,%d\n", line / KB, line, pair, swapped - 1, is_far(line, near));
    }
  return 0;
}
