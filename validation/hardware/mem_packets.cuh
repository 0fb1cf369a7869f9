// mem_packets.cuh - what mem_shapes.cu and mem_pairs.cu share: warps that access lines of 4 MB for a while, one kind of access alone, and a row of that.
#pragma once
#include "mem_places.cuh"

enum { WARM_UP = 30000, TIME = 300000, LINES = 32768, STEPS = 8 };

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

// Threads that take part access their words until the time is over. The rounds within it are added to `sums`, those of a warp once.
template <int KIND> static __device__ __forceinline__ void count(unsigned *words, unsigned at, unsigned step, bool takes_part, unsigned long long *sums) {
  unsigned rounds = 0, begun = 0, end = 0, seen = 0;
  __syncthreads();
  unsigned start = now();
  if (takes_part)
    for (int i = 0; i < 100000; i++) {
      end = now();
      if (!begun && end - start > WARM_UP)
        begun = end, rounds = 0;
      if (end - start > WARM_UP + TIME)
        break;
      steps<KIND>(words, at, step, seen);
      rounds += STEPS;
    }
  if (threadIdx.x % 32 == 0 || seen) // nobody changes the zeros
    atomicAdd(sums, (unsigned long long)rounds);
}

// kind: 0 red.add, 1 atom.add, 2 atom.exch, 3 atom.cas, which fails, 4 a store, 5 a load. `at`: the word that the lane begins with; `drawn`: the random number of its line.
static __device__ __forceinline__ void count_kind(int kind, unsigned *words, unsigned at, unsigned drawn, bool takes_part, unsigned long long *sums) {
  unsigned step = (mixed(drawn) | 1) * 32;
  if (kind == 0)
    count<0>(words, at, step, takes_part, sums);
  if (kind == 1)
    count<1>(words, at, step, takes_part, sums);
  if (kind == 2)
    count<2>(words, at, step, takes_part, sums);
  if (kind == 3)
    count<3>(words, at, step, takes_part, sums);
  if (kind == 4)
    count<4>(words, at, step, takes_part, sums);
  if (kind == 5)
    count<5>(words, at, step, takes_part, sums);
}

extern "C" __global__ void say(const unsigned long long *sums, int kind, int blocks, int warps, int first, int second, int third) {
  printf("%d,%d,%d,%d,%d,%d,%.2f\n", kind, blocks, warps, first, second, third, (double)TIME * blocks / sums[0]);
}

typedef void Measured(unsigned *words, int kind, int first, int second, int third, unsigned long long *sums);

// A row: the kernel's parameters, and cycles of an access of an SM.
static void say_row(Measured *kernel, int kind, int blocks, int warps, int first, int second, int third) {
  static unsigned *words;
  static unsigned long long *sums;
  if (!words) {
    check_cuda(cudaMalloc(&words, 128 * LINES), "cudaMalloc");
    check_cuda(cudaMalloc(&sums, 8), "cudaMalloc");
    check_cuda(cudaMemset(words, 0, 128 * LINES), "cudaMemset");
  }
  check_cuda(cudaMemset(sums, 0, 8), "cudaMemset");
  kernel<<<blocks, 32 * warps>>>(words, kind, first, second, third, sums);
  say<<<1, 1>>>(sums, kind, blocks, warps, first, second, third);
  finish("kernel");
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // prints
}
