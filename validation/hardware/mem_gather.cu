// Loads that hit in the L1 and whose lanes go to words of many lines and banks. (mem_l1.cu has lanes whose words all lie in one bank if they lie in lines of their own.)
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_gather mem_gather.cu; -cubin, -ptx for the files beside it
// Run:   ./mem_gather > mem_gather.csv
// A row: kind, lines, apart, of_bank, warps of the only block, cycles of a load of a warp. Kinds:
//   0  lane i goes to line i % lines * apart, and to word i / of_bank there: so many lanes share a bank
//   1  words at random of so many lines; of_bank is 1: the same for all warps
//   2  lanes go by turns to line number `of_bank` and to the one in whose number only bit `lines` is set: a cycle more if one bank of
//      tags has both
// mem_gather.yaml runs the same kernels in lockstep, with the same output.
#include "mem_places.cuh"

enum { ROUNDS = 200, WARM_UP = 20, LINE_BITS = 18, WORDS = 32 << LINE_BITS };

// The 0 that a load brings leads to the next one.
extern "C" __global__ void gather(const unsigned *words, int kind, unsigned lines, unsigned apart, unsigned of_bank, unsigned long long *sums) {
  unsigned lane = threadIdx.x % 32, offset = lane % lines * 32 * apart + lane / of_bank, at = 0, start;
  if (kind == 1)
    offset = mixed(of_bank ? lane : threadIdx.x) % (lines * 32);
  if (kind == 2)
    offset = (lane % 2 ? of_bank : 1u << lines) * 32 + lane;
  const unsigned *own = words + offset;
  for (int i = 0; i < WARM_UP; i++)
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(at) : "l"(own + at) : "memory");
  __syncthreads();
  start = now() + at;
  for (int i = 0; i < ROUNDS; i++)
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(at) : "l"(own + at) : "memory");
  unsigned took = now() + at - start;
  if (lane == 0) {
    atomicAdd(&sums[0], (unsigned long long)took);
    atomicAdd(&sums[1], (unsigned long long)ROUNDS);
  }
}

extern "C" __global__ void say(const unsigned long long *sums, int kind, unsigned lines, unsigned apart, unsigned of_bank, int warps) {
  printf("%d,%u,%u,%u,%d,%.2f\n", kind, lines, apart, of_bank, warps, (double)sums[0] / sums[1]);
}

static unsigned *words;
static unsigned long long *sums;

static void row(int kind, unsigned lines, unsigned apart, unsigned of_bank, int warps) {
  for (int run = 0; run < 2; run++) { // the first one loads the code
    check_cuda(cudaMemset(sums, 0, 16), "cudaMemset");
    gather<<<1, 32 * warps>>>(words, kind, lines, apart, of_bank, sums);
    finish("gather");
  }
  say<<<1, 1>>>(sums, kind, lines, apart, of_bank, warps);
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // prints
}

int main() {
  unsigned *all;
  check_cuda(cudaMalloc(&all, 8ul * WORDS), "cudaMalloc");
  check_cuda(cudaMalloc(&sums, 16), "cudaMalloc");
  check_cuda(cudaMemset(all, 0, 8ul * WORDS), "cudaMemset");
  words = all + (WORDS - (size_t)all / 4 % WORDS) % WORDS; // so that bits of a word's number are bits of its address
  printf("kind,lines,apart,of_bank,warps,cycles\n");
  fflush(stdout);
  for (int warps : {1, 4, 8, 16, 32})
    for (unsigned apart : {1u, 3u})
      for (unsigned lines = 1; lines <= 32; lines *= 2)
        for (unsigned of_bank = 1; of_bank <= lines; of_bank *= 2)
          row(0, lines, apart, of_bank, warps);
  for (int warps : {1, 4, 8, 16, 32})
    for (unsigned lines = 4; lines <= 1024; lines *= 4)
      for (unsigned same = 0; same < 2; same++)
        row(1, lines, 1, same, warps);
  for (unsigned bit = 0; bit < LINE_BITS; bit++)
    for (unsigned line = 0; line < 4; line++)
      row(2, bit, 1, line, 1);
  return 0;
}
