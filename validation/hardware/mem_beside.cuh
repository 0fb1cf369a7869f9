// mem_beside.cuh - what mem_thirds.cu and mem_map.cu share: how long loads of a line, or additions to it, take beside a crowd on a word, and whether a line's home is
// the other half than that of a block's SM.
#pragma once
#include <cstdio>
#include <vector>

typedef unsigned Word;
enum { BLOCKS = 132, THREADS = 256, MEASURED = 5, LINES = 1 << 19, LINE = 32, POSTED = 400, LOADED = 4, BEGIN = 25000, REGION = 512 };
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

// Memory of zeros for all of them.
static void beside_begin() {
  size_t bytes = (size_t)LINES * LINE * sizeof(Word);
  cudaMalloc(&words, bytes);
  cudaMalloc(&over, sizeof *over);
  cudaMalloc(&cycles, sizeof *cycles);
  cudaMemset(words, 0, bytes);
}
