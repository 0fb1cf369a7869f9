// What atomic operations of different kinds take, and stores and loads: all threads access random words of one, of a sector, a line and more, one kind alone.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_kinds mem_kinds.cu; -cubin, -ptx for the files beside it
// Run:   ./mem_kinds > mem_kinds.csv
// A row: kind (below), blocks, warps of each, words, cycles of an operation of a warp. mem_kinds.yaml runs the same kernels in lockstep, with the same output.
#include "mem_places.cuh"

enum { WARM_UP = 60000, TIME = 120000, WORDS = 16 << 20 };

#define RED(number, what, at, operand)                                                                                \
  if (kind == number)                                                                                                 \
    asm volatile("red.global." what " [%0], " operand ";" ::"l"(at) : "memory");
#define ATOM(number, what, constraint, at, operands)                                                                  \
  if (kind == number) {                                                                                               \
    asm volatile("atom.global." what " %0, [%1], " operands ";" : constraint : "l"(at) : "memory");                   \
    seen = (unsigned)found;                                                                                           \
  }

// Nothing changes what is there: zeros.
extern "C" __global__ void kinds(unsigned *words, unsigned count, int kind, unsigned long long *sums) {
  unsigned state = mixed(blockIdx.x * blockDim.x + threadIdx.x + 1), seen = 0, rounds = 0;
  unsigned start = now(), begun = 0, end = 0;
  for (int i = 0; i < 1000000; i++) {
    end = now();
    if (!begun && end - start > WARM_UP)
      begun = end, rounds = 0;
    if (begun && end - begun > TIME)
      break;
    state = state * 1664525u + 1013904223u + seen;
    unsigned at = mixed(state) & (count - 1), *word = words + at, found = 0;
    unsigned long long *wide = (unsigned long long *)words + at;
    RED(0, "add.u32", word, "0")
    RED(1, "max.u32", word, "0")
    RED(2, "or.b32", word, "0")
    RED(3, "add.f32", word, "0f00000000")
    RED(4, "add.u64", wide, "0")
    RED(5, "add.f64", wide, "0d0000000000000000")
    ATOM(6, "add.u32", "=r"(found), word, "0")
    ATOM(7, "add.f32", "=r"(found), word, "0f00000000")
    ATOM(8, "exch.b32", "=r"(found), word, "0")
    ATOM(9, "cas.b32", "=r"(found), word, "1, 2")
    if (kind == 10)
      asm volatile("st.global.u32 [%0], %1;" ::"l"(word), "r"(0) : "memory");
    if (kind == 11) {
      asm volatile("ld.global.u32 %0, [%1];" : "=r"(found) : "l"(word) : "memory");
      seen = found;
    }
    rounds++;
  }
  if (threadIdx.x % 32 == 0 && begun) {
    atomicAdd(&sums[0], (unsigned long long)(end - begun));
    atomicAdd(&sums[1], (unsigned long long)rounds);
  }
}

extern "C" __global__ void say(const unsigned long long *sums, int kind, int blocks, int warps, unsigned count) {
  printf("%d,%d,%d,%u,%.2f\n", kind, blocks, warps, count, (double)sums[0] / sums[1]);
}

int main() {
  unsigned *words;
  unsigned long long *sums;
  check_cuda(cudaMalloc(&words, 4 * WORDS), "cudaMalloc");
  check_cuda(cudaMalloc(&sums, 16), "cudaMalloc");
  check_cuda(cudaMemset(words, 0, 4 * WORDS), "cudaMemset");
  printf("kind,blocks,warps,count,cycles\n");
  fflush(stdout);
  auto say_row = [=](int kind, int blocks, int warps, unsigned count) {
    check_cuda(cudaMemset(sums, 0, 16), "cudaMemset");
    kinds<<<blocks, 32 * warps>>>(words, count, kind, sums);
    say<<<1, 1>>>(sums, kind, blocks, warps, count);
    finish("kinds");
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // prints
  };
  for (int kind = 0; kind < 10; kind++)
    for (unsigned count : {1u, 8u, 16u, 32u, 64u, 256u, 1024u, 4096u, 65536u})
      for (int blocks : {1, 4, 8, 16, 132})
        say_row(kind, blocks, 8, count);
  for (int kind : {0, 10, 11}) // loads and stores, and additions beside them
    for (unsigned count = 1 << 18; count <= WORDS; count <<= 2)
      for (int blocks : {1, 8, 132})
        for (int warps : {1, 8, 32})
          say_row(kind, blocks, warps, count);
  return 0;
}
