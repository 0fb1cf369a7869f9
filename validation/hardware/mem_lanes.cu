// What an access takes whose lanes lie on lines of their own or share them, by how many banks of words they come to, and on the same lines
// again or on others: one warp on an otherwise idle GPU.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_lanes mem_lanes.cu; -cubin, -ptx for the files beside it
// Run:   ./mem_lanes > mem_lanes.csv
// A row: kind (0: ld.relaxed, 1: atom.add, 2: atom.cas that fails), lanes, columns (the words' places in their lines: so many), how (0: a line
// for each lane; 1: lanes 16 apart share a sector, 2: they share a line), times (accesses in a row of one page's lines), cycles of an access, as
// the mean of 64 pages, half of which are at home in the other half of the L2. mem_lanes.yaml runs the same kernels in lockstep, with the same
// output.
#include "mem.cuh"

enum { PAGES = 64, PASSES = 4 };

template <int KIND> static __device__ unsigned access(unsigned *word) {
  unsigned value;
  if (KIND == 0)
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  if (KIND == 1)
    asm volatile("atom.global.add.u32 %0, [%1], 0;" : "=r"(value) : "l"(word) : "memory");
  if (KIND == 2)
    asm volatile("atom.global.cas.b32 %0, [%1], 1, 2;" : "=r"(value) : "l"(word) : "memory");
  return value;
}

// The time of all passes but the first. Each access waits for the one before.
template <int KIND> static __device__ void measure(unsigned *words, int lanes, int columns, int how, int times, unsigned *took) {
  unsigned lane = threadIdx.x, line = how ? lane % 16 : lane, second = lane / 16, value = 0, start = 0;
  if (lane >= lanes)
    return;
  unsigned word = lane % columns * (32 / columns);
  if (how)
    word = line % 8 + line / 8 * 16 + (how == 1 ? second : 0) + (how == 2 ? second * 8 : 0);
  for (int pass = 0; pass < PASSES; pass++) {
    if (pass == 1)
      start = (unsigned)clock64();
    for (int i = 0; i < PAGES; i++) {
      unsigned at = i / times * times * 1024 + (line * 11 + i / times * 7) % 32 * 32 + (word + i / times) % 32;
      value = access<KIND>(words + at + value);
    }
  }
  unsigned end = (unsigned)clock64();
  if (lane == 0)
    *took = end - start + value;
}

extern "C" __global__ void lanes(unsigned *words, int kind, int lanes, int columns, int how, int times, unsigned *took) {
  if (kind == 0)
    measure<0>(words, lanes, columns, how, times, took);
  if (kind == 1)
    measure<1>(words, lanes, columns, how, times, took);
  if (kind == 2)
    measure<2>(words, lanes, columns, how, times, took);
}

extern "C" __global__ void say(unsigned *took, int kind, int lanes, int columns, int how, int times) {
  printf("%d,%d,%d,%d,%d,%.2f\n", kind, lanes, columns, how, times, *took / double(PAGES * (PASSES - 1)));
}

int main() {
  std::vector<unsigned> zeros(PAGES * 1024);
  Buffer<unsigned> words(zeros.size()), took(1);
  words.set(zeros);
  printf("kind,lanes,columns,how,times,cycles\n");
  fflush(stdout);
  auto row = [&](int kind, int count, int columns, int how, int times) {
    lanes<<<1, 32>>>(words.data, kind, count, columns, how, times, took.data);
    say<<<1, 1>>>(took.data, kind, count, columns, how, times);
    finish("kernel");
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // prints
  };
  for (int kind = 0; kind < 3; kind++) {
    for (int count = 1; count <= 32; count *= 2)
      for (int columns : {1, 2, 4, 8, 32})
        if (columns <= count)
          row(kind, count, columns, 0, 1);
    row(kind, 1, 1, 0, 8);
    row(kind, 32, 32, 0, 8);
    row(kind, 32, 32, 1, 1);
    row(kind, 32, 32, 2, 1);
  }
  return 0;
}
