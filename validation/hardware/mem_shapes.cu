// What an access takes of its SM's way out, by its shape: so many lines, of each so many sectors, of each so many words, a lane for each. Lines lie anywhere in 4 MB.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_shapes mem_shapes.cu; -cubin, -ptx for the files beside it
// Run:   ./mem_shapes > mem_shapes.csv
// A row: kind (mem_packets.cuh), blocks, warps of each, lines, sectors of a line, words of a sector, cycles of an access of an SM. mem_shapes.yaml runs the same kernels in lockstep, with the same output.
#include "mem_packets.cuh"

extern "C" __global__ void shapes(unsigned *words, int kind, int lines, int sectors, int each, unsigned long long *sums) {
  unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  unsigned line = lane / (sectors * each), sector = lane / each % sectors, word = lane % each;
  unsigned drawn = mixed(warp * 32 + line + 1);
  unsigned at = drawn % LINES * 32 + (sector + drawn / LINES) % 4 * 8 + (word + drawn / LINES / 4) % 8;
  count_kind(kind, words, at, drawn, line < lines, sums);
}

int main() {
  printf("kind,blocks,warps,lines,sectors,each,cycles\n");
  fflush(stdout);
  for (int kind = 0; kind < 6; kind++)
    for (int blocks : {1, 2, 8, 132})
      for (int warps : {8, 32})
        for (int each : {1, 2, 4, 8})
          for (int sectors : {1, 2, 3, 4})
            for (int lines : {1, 2, 3, 4, 8, 16, 32})
              if (lines * sectors * each <= 32 && (warps == 32 || blocks == 1))
                say_row(shapes, kind, blocks, warps, lines, sectors, each);
  return 0;
}
