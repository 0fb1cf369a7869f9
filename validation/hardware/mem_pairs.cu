// What an access takes of its SM's way out where some lanes share a line and others have one of their own.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_pairs mem_pairs.cu; -cubin, -ptx for the files beside it
// Run:   ./mem_pairs > mem_pairs.csv
// A row: kind (mem_packets.cuh), blocks, warps of each, pairs of lanes, how far apart the lanes of a pair are, how they share (0: a word, 1: a sector, 2: a line), cycles of an access of an SM. mem_pairs.yaml runs the same kernels in lockstep, with the same output.
#include "mem_packets.cuh"

// Lanes (i, i + apart) are pairs for the first so many i.
extern "C" __global__ void shared(unsigned *words, int kind, int pairs, int apart, int how, unsigned long long *sums) {
  unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, line = lane, second = 0;
  for (int i = 0, first = 0; i < pairs; i++, first++) {
    if (first % (2 * apart) == apart)
      first += apart;
    if (lane == first + apart)
      line = first, second = 1;
  }
  unsigned drawn = mixed(warp * 32 + line + 1), r = drawn / LINES;
  unsigned at = drawn % LINES * 32 + (r + (how == 2 ? second : 0)) % 4 * 8 + (r / 4 + (how == 1 ? second : 0)) % 8;
  count_kind(kind, words, at, drawn, true, sums);
}

int main() {
  printf("kind,blocks,warps,pairs,apart,how,cycles\n");
  fflush(stdout);
  for (int kind = 0; kind < 6; kind++)
    for (int blocks : {1, 132})
      for (int how : {0, 1, 2})
        for (int apart : {1, 2, 4, 8, 16})
          for (int pairs : {0, 1, 2, 3, 4, 8, 12, 16})
            say_row(shared, kind, blocks, 32, pairs, apart, how);
  return 0;
}
