// What a crowd on one word does to other lines: blocks add to one word without waiting, while one thread of another block adds to a line, again and again, or
// looks at it. Lines that share something with the word's are slow.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_crowded mem_crowded.cu
// Run:   ./mem_crowded > mem_crowded.csv
// A row: the block that measures, how many others add (those behind it by number), the line (the word is in line 0; a measuring thread takes another word of
// it), and the cycles of 400 additions (red) until the last one is issued, and of 24 loads (ld.relaxed), each of which waits for the one before.
#include <cstdio>

typedef unsigned Word;
enum { BLOCKS = 132, THREADS = 256, LINES = 512, LINE = 32, POSTED = 400, LOADED = 24, BEGIN = 60000 };

__device__ Word post(Word *at) {
  long long begin = clock64();
  for (int i = 0; i < POSTED; i++)
    asm volatile("red.global.add.u32 [%0], 1;" ::"l"(at) : "memory");
  return (Word)(clock64() - begin);
}

__device__ Word look(Word *at) {
  Word value = 0;
  long long begin = clock64();
  for (int i = 0; i < LOADED; i++)
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at + (value >> 30)) : "memory");
  return (Word)(clock64() - begin) + (value >> 30);
}

extern "C" __global__ void mem_crowded(Word *words, volatile Word *over, Word *cycles, int line, int measured, int crowd, int loads) {
  int behind = ((int)blockIdx.x + (int)gridDim.x - measured) % (int)gridDim.x;
  if (behind > crowd)
    return;
  if (behind) {
    for (int i = 0; i < 100000 && (i % 16 || !*over); i++)
      atomicAdd(words, 1);
    return;
  }
  if (threadIdx.x)
    return;
  for (long long begin = clock64(); clock64() - begin < BEGIN;)
    ;
  Word *at = words + line * LINE + (line ? 0 : 8), took = loads ? look(at) : post(at);
  *over = 1;
  *cycles = took;
}

// As main() prints it, for lockstep.
extern "C" __global__ void say(Word *cycles, int line, int measured, int crowd, int loads) {
  printf("%d,%d,%d,%d,%u\n", measured, crowd, line, loads, *cycles);
}

static Word *words, *over, *cycles;

static Word run(int line, int measured, int crowd, int loads) {
  for (int i = 0; i < 2; i++) {
    cudaMemset(over, 0, sizeof *over);
    mem_crowded<<<BLOCKS, THREADS>>>(words, over, cycles, line, measured, crowd, loads);
  }
  Word host = 0;
  cudaMemcpy(&host, cycles, sizeof host, cudaMemcpyDeviceToHost);
  return host;
}

int main() {
  int blocks[] = {5, 6, 40}, crowds[] = {0, 131, 2, 8, 16, 24, 32, 48, 64, 80, 96, 112};
  cudaMalloc(&words, (size_t)LINES * LINE * sizeof(Word));
  cudaMalloc(&over, sizeof *over);
  cudaMalloc(&cycles, sizeof *cycles);
  cudaMemset(words, 0, (size_t)LINES * LINE * sizeof(Word));
  printf("measured,crowd,line,posted,loaded\n");
  for (int measured : blocks)
    for (int crowd : crowds)
      for (int line = 0; line < (crowd == 131 && measured == 5 ? LINES : LINES / 8); line += line % 8 ? 6 : 2) // one of each granule
        printf("%d,%d,%d,%u,%u\n", measured, crowd, line, run(line, measured, crowd, 0), run(line, measured, crowd, 1));
  return cudaDeviceSynchronize() != cudaSuccess;
}
