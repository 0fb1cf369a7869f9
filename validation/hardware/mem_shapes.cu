// What an access takes of its SM's way out, by its shape: so many lines, of each so many sectors, of each so many words, a lane for each. Lines lie anywhere in 4 MB.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_shapes mem_shapes.cu; -cubin, -ptx for the files beside it
// Run:   ./mem_shapes > mem_shapes.csv
// A row: kind (below), blocks, warps of each, lines, sectors of a line, words of a sector, cycles of an access of an SM. mem_shapes.yaml runs the same kernels in lockstep, with the same output.
#include "hardware.cuh"

enum { WARM_UP = 30000, TIME = 300000, LINES = 32768, STEPS = 8 };

static __device__ unsigned mixed(unsigned h) {
  h = (h ^ h >> 16) * 0x85EBCA6Bu;
  h = (h ^ h >> 13) * 0xC2B2AE35u;
  return h ^ h >> 16;
}
static __device__ __forceinline__ unsigned now() {
  unsigned t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}

// So many accesses, each to lines of its own: `at` is the lane's word of LINES * 32, `step` an odd number of lines.
template <int KIND> static __device__ __forceinline__ void steps(unsigned *words, unsigned &at, unsigned step, unsigned &seen) {
  unsigned old[STEPS];
#pragma unroll
  for (int i = 0; i < STEPS; i++) {
    unsigned *word = words + at, found = 0;
    at = (at + step) % (LINES * 32);
    if (KIND == 0)
      asm volatile("red.global.add.u32 [%0], 0;" ::"l"(word) : "memory");
    if (KIND == 1)
      asm volatile("atom.global.add.u32 %0, [%1], 0;" : "=r"(found) : "l"(word) : "memory");
    if (KIND == 2)
      asm volatile("atom.global.exch.b32 %0, [%1], 0;" : "=r"(found) : "l"(word) : "memory");
    if (KIND == 3)
      asm volatile("atom.global.cas.b32 %0, [%1], 1, 2;" : "=r"(found) : "l"(word) : "memory");
    if (KIND == 4)
      asm volatile("st.global.u32 [%0], %1;" ::"l"(word), "r"(0) : "memory");
    if (KIND == 5)
      asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(found) : "l"(word) : "memory");
    old[i] = found;
  }
  for (int i = 0; i < STEPS; i++)
    seen += old[i];
}

template <int KIND> static __device__ __forceinline__ void measure(unsigned *words, int lines, int sectors, int each, unsigned long long *sums) {
  unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  unsigned line = lane / (sectors * each), sector = lane / each % sectors, word = lane % each;
  unsigned drawn = mixed(warp * 32 + line + 1);
  unsigned at = drawn % LINES * 32 + (sector + drawn / LINES) % 4 * 8 + (word + drawn / LINES / 4) % 8;
  unsigned step = (mixed(drawn) | 1) * 32, rounds = 0, begun = 0, end = 0, seen = 0;
  __syncthreads();
  unsigned start = now();
  if (line < lines)
    for (int i = 0; i < 100000; i++) {
      end = now();
      if (!begun && end - start > WARM_UP)
        begun = end, rounds = 0;
      if (end - start > WARM_UP + TIME)
        break;
      steps<KIND>(words, at, step, seen);
      rounds += STEPS;
    }
  if (lane == 0 || seen) // nobody changes the zeros
    atomicAdd(sums, (unsigned long long)rounds);
}

extern "C" __global__ void shapes(unsigned *words, int kind, int lines, int sectors, int each, unsigned long long *sums) {
  if (kind == 0)
    measure<0>(words, lines, sectors, each, sums);
  if (kind == 1)
    measure<1>(words, lines, sectors, each, sums);
  if (kind == 2)
    measure<2>(words, lines, sectors, each, sums);
  if (kind == 3)
    measure<3>(words, lines, sectors, each, sums);
  if (kind == 4)
    measure<4>(words, lines, sectors, each, sums);
  if (kind == 5)
    measure<5>(words, lines, sectors, each, sums);
}

extern "C" __global__ void say(const unsigned long long *sums, int kind, int blocks, int warps, int lines, int sectors, int each) {
  printf("%d,%d,%d,%d,%d,%d,%.2f\n", kind, blocks, warps, lines, sectors, each, (double)TIME * blocks / sums[0]);
}

int main() {
  unsigned *words;
  unsigned long long *sums;
  check_cuda(cudaMalloc(&words, 128 * LINES), "cudaMalloc");
  check_cuda(cudaMalloc(&sums, 8), "cudaMalloc");
  check_cuda(cudaMemset(words, 0, 128 * LINES), "cudaMemset");
  printf("kind,blocks,warps,lines,sectors,each,cycles\n");
  fflush(stdout);
  for (int kind = 0; kind < 6; kind++)
    for (int blocks : {1, 2, 8, 132})
      for (int warps : {8, 32})
        for (int each : {1, 2, 4, 8})
          for (int sectors : {1, 2, 3, 4})
            for (int lines : {1, 2, 3, 4, 8, 16, 32}) {
              if (lines * sectors * each > 32 || (warps == 8 && blocks > 1))
                continue;
              check_cuda(cudaMemset(sums, 0, 8), "cudaMemset");
              shapes<<<blocks, 32 * warps>>>(words, kind, lines, sectors, each, sums);
              say<<<1, 1>>>(sums, kind, blocks, warps, lines, sectors, each);
              finish("shapes");
              check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // prints
            }
  return 0;
}
