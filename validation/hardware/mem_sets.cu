// Where an L1 puts a line, how many it holds, and what shared memory leaves of it: sets by the bits of the line's number, lines
// beside each carveout, the carveout that a launch gets by threads, registers and shared memory, and circles that are too large.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_sets mem_sets.cu
// Run:   ./mem_sets > mem_sets.csv
// A row: kind,a,b,c,value. set: a line whose number differs from that of the buffer's first line in the bits a, in how far its set does (a set has the number of that of
// the buffer's first 512 lines that lies in it). lines: with a carveout of a percent and b threads, lines that stay. circle: with a carveout of a percent and b threads, c
// lines, percent of the loads of rounds 2 to 5 that miss. carveout: for a threads and b bytes of shared memory, of which an SM holds c blocks, KiB (carveout82: of a
// kernel with 82 registers).
#include <algorithm>
#include <vector>

#include "hardware.cuh"

enum { LINE = 32, SETS = 512, WAYS = 4, LATE = 120, RESERVED = 56 };

__constant__ unsigned known[SETS * WAYS];

static __device__ unsigned load(const unsigned *p) {
  unsigned value;
  asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}

// True if the load, of a zero, comes from beyond the L1. `zero` is the last one that came, so that ptxas makes a load of each.
static __device__ bool misses(const unsigned *p, unsigned *zero) {
  unsigned long long start = clock64();
  if ((*zero = load(p + *zero)))
    __trap();
  return clock64() - start > LATE;
}

// Of each set: how many loads miss in four rounds of the line and four known ones.
extern "C" __global__ void find_set(const unsigned *words, unsigned long long line, unsigned *missed) {
  unsigned zero = 0;
  for (unsigned set = 0; set < SETS; set++) {
    unsigned count = 0;
    for (unsigned round = 0; round < 5; round++) {
      for (unsigned i = 0; i < WAYS; i++)
        count += misses(words + (size_t)known[set * WAYS + i] * LINE, &zero) && round;
      count += misses(words + line * LINE, &zero) && round;
    }
    missed[set] = count;
  }
}

template <int MORE_REGISTERS> __global__ void circle(const unsigned *words, unsigned lines, unsigned rounds, unsigned *missed) {
  unsigned keep[64], sum = 0, count = 0, zero = 0;
  if (MORE_REGISTERS)
#pragma unroll
    for (int i = 0; i < 64; i++)
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(keep[i]) : "l"(words + (1 << 21) + i) : "memory");
  for (unsigned round = 0; !threadIdx.x && round < rounds; round++)
    for (unsigned i = 0; i < lines; i++)
      count += misses(words + (size_t)i * LINE, &zero) && round;
  if (MORE_REGISTERS)
#pragma unroll
    for (int i = 0; i < 64; i++)
      sum = sum * 3 + keep[i];
  if (!threadIdx.x)
    *missed = count + sum;
}

static unsigned *words, *missed;

// The set of the line, and for known lines, which make no fifth one, -1.
static int set_of(unsigned long long line, const std::vector<bool> &leave) {
  find_set<<<1, 1>>>(words, line, missed);
  check_cuda(cudaDeviceSynchronize(), "find_set");
  int found = -1;
  for (int set = 0; set < SETS; set++)
    if (missed[set] >= 8 && !leave[set])
      found = set;
  return found;
}

template <int MORE> static unsigned go(int threads, int shared, unsigned lines, unsigned rounds) {
  circle<MORE><<<1, threads, shared>>>(words, lines, rounds, missed);
  check_cuda(cudaDeviceSynchronize(), "circle");
  return *missed;
}

static const unsigned kibibytes[] = {8, 16, 32, 64, 100, 132, 164, 196, 228};

// The largest carveout that leaves room for no more lines than stay.
template <int MORE> static unsigned carveout(int threads, int shared) {
  unsigned low = 0, high = 8;
  while (low < high) {
    unsigned middle = (low + high) / 2, lines = (256 - kibibytes[middle]) * 8 - RESERVED - 4;
    if (go<MORE>(threads, shared, lines, 2) > lines / 50 + 4)
      low = middle + 1;
    else
      high = middle;
  }
  return kibibytes[low];
}

template <int MORE> static void carveouts() {
  check_cuda(cudaFuncSetAttribute(circle<MORE>, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024), "shared");
  for (int threads : {1, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 480, 512, 576, 640, 704, 736, 768, 832, 896, 928, 960, 992, 1024})
    for (int shared : {0, 1, 256, 512, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152, 65536, 98304, 131072, 163840, 232448}) {
      int blocks = 0;
      check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, circle<MORE>, threads, shared), "occupancy");
      if (blocks)
        printf("carveout%s,%d,%d,%d,%u\n", MORE ? "82" : "", threads, shared, blocks, carveout<MORE>(threads, shared));
    }
  fflush(stdout);
}

static unsigned reduced(const std::vector<unsigned> &kernel, unsigned line) {
  for (unsigned k : kernel)
    line = std::min(line, line ^ k);
  return line;
}

int main() {
  size_t bytes = (size_t)64 << 30;
  check_cuda(cudaMalloc(&words, bytes), "cudaMalloc");
  check_cuda(cudaMallocManaged(&missed, 4 * SETS), "cudaMallocManaged");
  check_cuda(cudaMemset(words, 0, bytes), "cudaMemset");
  const std::vector<unsigned> kernel{0x2039, 0x1149, 0x976, 0x41b, 0x271}; // differences of lines that have one set
  std::vector<unsigned> taken(SETS), lines(SETS * WAYS);
  for (unsigned line = SETS; line < 32 * SETS; line++) {
    unsigned set = reduced(kernel, line);
    if (taken[set] < WAYS)
      lines[set * WAYS + taken[set]++] = line;
  }
  check_cuda(cudaMemcpyToSymbol(known, lines.data(), 4 * lines.size()), "cudaMemcpyToSymbol");
  printf("kind,a,b,c,value\n");
  std::vector<bool> leave(SETS); // something else lies in these
  set_of(lines[0], leave);
  for (int set = 0; set < SETS; set++)
    leave[set] = missed[set] >= 8;
  unsigned long long number = (unsigned long long)words / (4 * LINE), seed = 1;
  for (int i = 0; i < 100; i++) {
    seed = (seed * 1664525 + 1013904223) & 0xffffffff;
    unsigned long long line = i < 29 ? 1ull << i : i % 3 ? seed >> 3 : seed >> 12;
    int set = set_of(line, leave);
    if (set >= 0)
      printf("set,%llu,,,%d\n", (number + line) ^ number, set);
  }
  fflush(stdout);
  for (int percent : {0, 7, 14, 28, 43, 57, 71, 85, 100}) {
    check_cuda(cudaFuncSetAttribute(circle<0>, cudaFuncAttributePreferredSharedMemoryCarveout, percent), "carveout");
    for (int threads : {1, 1024}) {
      unsigned low = 16, high = 2048;
      while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        (go<0>(threads, 0, middle, 2) > 10 ? high : low) = middle;
      }
      printf("lines,%d,%d,,%u\n", percent, threads, low);
      for (unsigned more : {8, 24, 56, 88, 120, 184, 248, 312, 376, 440})
        if (low + more <= 2048)
          printf("circle,%d,%d,%u,%.1f\n", percent, threads, low + more, 25.0 * go<0>(threads, 0, low + more, 5) / (low + more));
    }
    fflush(stdout);
  }
  check_cuda(cudaFuncSetAttribute(circle<0>, cudaFuncAttributePreferredSharedMemoryCarveout, -1), "carveout");
  carveouts<0>();
  carveouts<1>();
  return 0;
}
