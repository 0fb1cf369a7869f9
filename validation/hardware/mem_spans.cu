// What compare-and-swaps and additions take whose lanes are on some sectors of a line: of its atomic unit, where all SMs are on one line, and of an
// SM's way out, where lanes that don't share a line have others.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_spans mem_spans.cu; -cubin, -ptx for the files beside it
// Run:   ./mem_spans > mem_spans.csv
// A row: kind (0: atom.add, 1: atom.cas that fails), blocks, warps of each, sectors of a line (a mask), lanes on words of their own in each of them,
// lines (1: the lanes of that many are alone; 64: the others of a warp do the same on other lines), cycles of an access of a warp, of all or of its SM.
// mem_spans.yaml runs the same kernels in lockstep, with the same output.
#include "mem.cuh"

enum { ROUNDS = 64, SECTOR_WORDS = 8, LINE_WORDS = 32 };

// The result of each access is needed for the next one's address.
template <int KIND> static __device__ __forceinline__ unsigned rounds(unsigned *words, unsigned group, unsigned in_line, int lines) {
  unsigned value = 0;
#pragma unroll 1
  for (int i = 0; i < ROUNDS; i++) {
    unsigned *word = words + (group * 5 + i) % lines * LINE_WORDS + in_line + value;
    if (KIND == 0)
      asm volatile("atom.global.add.u32 %0, [%1], 0;" : "=r"(value) : "l"(word) : "memory");
    if (KIND == 1)
      asm volatile("atom.global.cas.b32 %0, [%1], 1, 2;" : "=r"(value) : "l"(word) : "memory");
  }
  return value;
}

extern "C" __global__ void spans(unsigned *words, int kind, int sectors, int per, int lines, unsigned long long *sums) {
  unsigned lanes = __popc(sectors) * per, lane = threadIdx.x % 32, group = lane / lanes, left = sectors;
  for (unsigned i = 0; i < lane % lanes / per; i++)
    left &= left - 1;
  unsigned in_line = (__ffs(left) - 1) * SECTOR_WORDS + lane % per, value = 0;
  bool takes_part = lines == 1 ? group == 0 : (group + 1) * lanes <= 32;
  __syncthreads();
  long long start = now();
  if (takes_part)
    value = kind ? rounds<1>(words, group, in_line, lines) : rounds<0>(words, group, in_line, lines);
  __syncthreads();
  long long end = now();
  if (threadIdx.x == 0)
    atomicAdd(sums, (unsigned long long)(end - start + value));
}

extern "C" __global__ void say(const unsigned long long *sums, int kind, int blocks, int warps, int sectors, int per, int lines) {
  printf("%d,%d,%d,%d,%d,%d,%.2f\n", kind, blocks, warps, sectors, per, lines, (double)sums[0] / blocks / ROUNDS / (blocks * warps));
}

int main() {
  std::vector<unsigned> zeros(64 * LINE_WORDS);
  Buffer<unsigned> words(zeros.size());
  Buffer<unsigned long long> sums(1);
  words.set(zeros);
  printf("kind,blocks,warps,sectors,per,lines,cycles\n");
  fflush(stdout);
  auto row = [&](int kind, int blocks, int warps, int sectors, int per, int lines) {
    sums.clear();
    spans<<<blocks, 32 * warps>>>(words.data, kind, sectors, per, lines, sums.data);
    say<<<1, 1>>>(sums.data, kind, blocks, warps, sectors, per, lines);
    finish("kernel");
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // prints
  };
  for (int kind = 0; kind < 2; kind++)
    for (int per = 1; per <= 2; per++)
      for (int sectors = 1; sectors < 16; sectors++) {
        row(kind, 132, 8, sectors, per, 1);
        row(kind, 1, 32, sectors, per, 64);
      }
  return 0;
}
