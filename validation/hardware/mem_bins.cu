// Additions of warps whose lanes want some words at once, as when all threads count in a few bins: what one of a warp takes, on words that all blocks want.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_bins mem_bins.cu; -cubin, -ptx for the files beside it
// Run:   ./mem_bins > mem_bins.csv
// A row: how (0: reductions; 1: atomics, each waits for the one before; 2: as 0, behind a volatile load of the word that is waited for), words that a warp's
// lanes want at once, in turn, groups of such words that a warp goes through, whether warps begin with groups of their own (0: all with the same), words from
// one to the next, blocks, warps of each, cycles of an addition of a warp. mem_bins.yaml runs the same kernels in lockstep, with the same output.
#include "hardware.cuh"

enum { WARM_UP = 60000, TIME = 120000, WORDS = 8192 };

static __device__ __forceinline__ unsigned now() {
  unsigned t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}

extern "C" __global__ void bins(unsigned *words, int how, unsigned wanted, unsigned groups, unsigned apart, unsigned stride, unsigned long long *sums) {
  unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  unsigned group = apart ? warp % groups : 0, seen = 0, rounds = 0, start = now(), begun = 0, end = 0;
  for (int i = 0; i < 1000000; i++) {
    end = now();
    if (!begun && end - start > WARM_UP)
      begun = end, rounds = 0;
    if (begun && end - begun > TIME)
      break;
    unsigned *word = words + (lane % wanted + group * wanted) * stride % WORDS, found = 0;
    group = group + 1 + (seen & 0x40000000) < groups ? group + 1 : 0;
    if (how == 2) {
      asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(found) : "l"(word) : "memory");
      seen |= found;
    }
    if (how == 1) {
      asm volatile("atom.global.add.u32 %0, [%1], 0;" : "=r"(found) : "l"(word) : "memory");
      seen |= found;
    } else {
      asm volatile("red.global.add.u32 [%0], 0;" ::"l"(word) : "memory");
    }
    rounds++;
  }
  if (lane == 0 && begun) {
    atomicAdd(&sums[0], (unsigned long long)(end - begun));
    atomicAdd(&sums[1], (unsigned long long)rounds);
  }
}

extern "C" __global__ void say(const unsigned long long *sums, int how, unsigned wanted, unsigned groups, unsigned apart, unsigned stride, int blocks, int warps) {
  printf("%d,%u,%u,%u,%u,%d,%d,%.2f\n", how, wanted, groups, apart, stride, blocks, warps, (double)sums[0] / sums[1]);
}

int main() {
  unsigned *words;
  unsigned long long *sums;
  check_cuda(cudaMalloc(&words, 4 * WORDS), "cudaMalloc");
  check_cuda(cudaMalloc(&sums, 16), "cudaMalloc");
  check_cuda(cudaMemset(words, 0, 4 * WORDS), "cudaMemset");
  printf("how,wanted,groups,apart,stride,blocks,warps,cycles\n");
  fflush(stdout);
  auto say_row = [=](int how, unsigned wanted, unsigned groups, unsigned apart, unsigned stride, int blocks, int warps) {
    check_cuda(cudaMemset(sums, 0, 16), "cudaMemset");
    bins<<<blocks, 32 * warps>>>(words, how, wanted, groups, apart, stride, sums);
    say<<<1, 1>>>(sums, how, wanted, groups, apart, stride, blocks, warps);
    finish("bins");
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // prints
  };
  for (int how = 0; how < 3; how++)
    for (unsigned wanted : {1u, 2u, 4u, 8u, 16u, 32u})
      for (unsigned groups : {1u, 4u, 16u})
        for (unsigned apart : {0u, 1u})
          for (unsigned stride : {1u, 8u, 32u, 6951u}) // 6951: as good as random
            for (int blocks : {1, 8, 32, 132})
              for (int warps : {1, 8})
                if (groups > 1 || !apart)
                  say_row(how, wanted, groups, apart, stride, blocks, warps);
  for (int how = 0; how < 3; how++) // which words share a slice, or pass each other's, is chance
    for (unsigned wanted : {2u, 4u, 8u, 16u, 32u})
      for (unsigned draw = 0; draw < (how < 2 ? 32u : 16u); draw++)
        if (how < 2 || wanted == 8 || wanted == 16)
          say_row(how, wanted, 1, 0, 1001 + 226 * draw, 132, 8);
  return 0;
}
