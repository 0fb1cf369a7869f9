// What atomic operations on the words of one page take, whose home is in the SMs' half of the L2 or in the other one: few SMs, as few blocks have them, belong to one GPC.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_far mem_far.cu; -cubin, -ptx for the files beside it
// Run:   ./mem_far > mem_far.csv
// A row: kind (below), page (0 and 1 have different homes), blocks, warps of each, words, cycles of an operation of a warp. mem_far.yaml runs the same kernels in lockstep, with the same output.
#include "mem_places.cuh"

enum { WARM_UP = 30000, TIME = 60000, PAGE_WORDS = 1024, PAGES = 2 };

#define ATOM(number, what, operands)                                                                                  \
  if (kind == number) {                                                                                               \
    asm volatile("atom.global." what " %0, [%1], " operands ";" : "=r"(found) : "l"(word) : "memory");                \
    seen = found;                                                                                                     \
  }

// Nothing changes what is there: zeros.
extern "C" __global__ void far(unsigned *pages, int page, unsigned count, int kind, unsigned long long *sums) {
  unsigned *words = pages + page * PAGE_WORDS;
  unsigned state = mixed(blockIdx.x * blockDim.x + threadIdx.x + 1), seen = 0, rounds = 0;
  unsigned start = now(), begun = 0, end = 0;
  for (int i = 0; i < 1000000; i++) {
    end = now();
    if (!begun && end - start > WARM_UP)
      begun = end, rounds = 0;
    if (begun && end - begun > TIME)
      break;
    state = state * 1664525u + 1013904223u + seen;
    unsigned *word = words + (mixed(state) & (count - 1)), found = 0;
    if (kind == 0)
      asm volatile("red.global.add.u32 [%0], 0;" ::"l"(word) : "memory");
    ATOM(1, "add.u32", "0")
    ATOM(2, "exch.b32", "0")
    ATOM(3, "cas.b32", "1, 2")
    if (kind == 4)
      asm volatile("st.global.u32 [%0], %1;" ::"l"(word), "r"(0) : "memory");
    if (kind == 5) {
      asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(found) : "l"(word) : "memory");
      seen = found;
    }
    rounds++;
  }
  if (threadIdx.x % 32 == 0 && begun) {
    atomicAdd(&sums[0], (unsigned long long)(end - begun));
    atomicAdd(&sums[1], (unsigned long long)rounds);
  }
}

extern "C" __global__ void say(const unsigned long long *sums, int kind, int page, int blocks, int warps, unsigned count) {
  printf("%d,%d,%d,%d,%u,%.2f\n", kind, page, blocks, warps, count, (double)sums[0] / sums[1]);
}

int main() {
  unsigned *pages;
  unsigned long long *sums;
  check_cuda(cudaMalloc(&pages, 4 * PAGE_WORDS * PAGES), "cudaMalloc");
  check_cuda(cudaMalloc(&sums, 16), "cudaMalloc");
  check_cuda(cudaMemset(pages, 0, 4 * PAGE_WORDS * PAGES), "cudaMemset");
  printf("kind,page,blocks,warps,count,cycles\n");
  fflush(stdout);
  for (int kind = 0; kind < 6; kind++)
    for (unsigned count : {1u, 8u, 32u, 64u, 256u, 1024u})
      for (int blocks : {1, 2, 4, 8, 16, 132})
        for (int warps : {1, 4, 32})
          for (int page = 0; page < PAGES; page++) {
            check_cuda(cudaMemset(sums, 0, 16), "cudaMemset");
            far<<<blocks, 32 * warps>>>(pages, page, count, kind, sums);
            say<<<1, 1>>>(sums, kind, page, blocks, warps, count);
            finish("far");
            check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // prints
          }
  return 0;
}
