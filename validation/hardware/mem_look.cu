// Looks at hot words and additions to them: every warp comes to the same lines in the same order, or each in an order of its own.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_look mem_look.cu; -cubin, -ptx for the files beside it
// Run:   ./mem_look > mem_look.csv
// A row: what (below), blocks, warps of each, lanes that want one word, lines that are hot, whether warps begin at different lines, the first line's place in
// 148 KB, cycles of a round, the mean of warps. mem_look.yaml runs the same kernels in lockstep, with the same output.
#include "hardware.cuh"

enum { LOOK, REDUCE, LOOK_REDUCE, ADD, LOOK_ADD, WHATS, ROUNDS = 100, WORDS = 1 << 20 };

template <int WHAT> static __device__ unsigned come(unsigned *word) {
  unsigned seen = 0;
  if (WHAT == LOOK || WHAT == LOOK_REDUCE || WHAT == LOOK_ADD) {
    asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(seen) : "l"(word) : "memory");
    if (seen == 0x7fffffff)
      __trap();
  }
  if (WHAT == REDUCE || WHAT == LOOK_REDUCE)
    asm volatile("red.global.add.u32 [%0], 1;" ::"l"(word) : "memory");
  if (WHAT == ADD || WHAT == LOOK_ADD) {
    asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(seen) : "l"(word) : "memory");
    if (seen == 0x7fffffff)
      __trap();
  }
  return seen;
}

template <int WHAT> static __device__ void rounds(unsigned *words, unsigned together, unsigned lines, unsigned apart, unsigned place, unsigned long long *sum) {
  unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, each = 32 / together;
  unsigned line = threadIdx.x % 32 / together + (apart ? warp * 7 : 0);
  unsigned long long start = 0;
  for (int i = -ROUNDS / 4; i < ROUNDS; i++) {
    if (i == 0)
      start = clock64();
    come<WHAT>(&words[(place * 37888 + line % lines * 1056) % WORDS]);
    line += each;
  }
  if (threadIdx.x % 32 == 0)
    atomicAdd(sum, (unsigned long long)clock64() - start);
}

extern "C" __global__ void run(unsigned *words, int what, unsigned together, unsigned lines, unsigned apart, unsigned place, unsigned long long *sum) {
  switch (what) {
  case LOOK: rounds<LOOK>(words, together, lines, apart, place, sum); break;
  case REDUCE: rounds<REDUCE>(words, together, lines, apart, place, sum); break;
  case LOOK_REDUCE: rounds<LOOK_REDUCE>(words, together, lines, apart, place, sum); break;
  case ADD: rounds<ADD>(words, together, lines, apart, place, sum); break;
  default: rounds<LOOK_ADD>(words, together, lines, apart, place, sum);
  }
}

extern "C" __global__ void say(const unsigned long long *sum, int what, unsigned blocks, unsigned warps, unsigned together, unsigned lines, unsigned apart, unsigned place) {
  printf("%d,%u,%u,%u,%u,%u,%u,%.1f\n", what, blocks, warps, together, lines, apart, place, (double)sum[0] / (ROUNDS * blocks * warps));
}

int main() {
  unsigned *words;
  unsigned long long *sum;
  check_cuda(cudaMalloc(&words, 4 * WORDS), "cudaMalloc");
  check_cuda(cudaMalloc(&sum, 8), "cudaMalloc");
  check_cuda(cudaMemset(words, 0, 4 * WORDS), "cudaMemset");
  printf("what,blocks,warps,together,lines,apart,place,cycles\n");
  fflush(stdout);
  auto say_row = [=](int what, unsigned blocks, unsigned warps, unsigned together, unsigned lines, unsigned apart, unsigned place) {
    check_cuda(cudaMemset(sum, 0, 8), "cudaMemset");
    check_cuda(cudaMemset(words, 0, 4 * WORDS), "cudaMemset");
    run<<<blocks, 32 * warps>>>(words, what, together, lines, apart, place, sum);
    say<<<1, 1>>>(sum, what, blocks, warps, together, lines, apart, place);
    finish("run");
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // prints
  };
  for (int what = 0; what < WHATS; what++)
    for (unsigned blocks : {8, 32, 132})
      for (unsigned warps : {1, 8})
        for (unsigned together : {32, 8})
          for (unsigned lines : {1u, 4u, 16u, 64u})
            for (unsigned apart = 0; apart < 2; apart++)
              for (unsigned place = 0; place < 4; place++)
                if (lines >= 32 / together)
                  say_row(what, blocks, warps, together, lines, apart, place);
  return 0;
}
