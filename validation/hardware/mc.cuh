// mc.cuh - what the mc_*.cu programs share: they measure how a warp issues, for lockstep's runs of machine code. Their cubins are recorded beside
// what an H200 took, so that lockstep runs the very instructions that the GPU ran (tests/script/issue.sh).
//
// A row is a kernel with `warps` warps in one block. Each warp takes the time of `n` rounds by the clock; took[0] is the longest, took[1]
// the sum over the warps. Output: CSV rows, program,kernel,threads,n,mean,longest,first: cycles of a warp in the last of three launches (mean and longest), and the mean
// in the first one. All loops are bounded.
#pragma once
#include <cstdint>

#include "hardware.cuh"

__device__ __forceinline__ unsigned clock_now() {
  unsigned t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}

// A warp's time; `value` is what its last instruction gave.
__device__ __forceinline__ void end_row(unsigned *took, unsigned start, unsigned value) {
  unsigned t = clock_now() - start;
  if (value == 0x5eed1e55)
    took[2] = value;
  if (threadIdx.x % 32 == 0) {
    atomicMax(took, t);
    atomicAdd(took + 1, t);
  }
}

#define REP4(...) __VA_ARGS__ __VA_ARGS__ __VA_ARGS__ __VA_ARGS__
#define REP16(...) REP4(REP4(__VA_ARGS__))

typedef void Kernel(unsigned *took, unsigned n, unsigned zero, unsigned *words);

struct Row {
  const char *name;
  Kernel *kernel;
  std::vector<int> warps, rounds;
};
static std::vector<Row> rows;
struct Registered {
  Registered(const char *name, Kernel *kernel, std::vector<int> warps, std::vector<int> rounds) {
    rows.push_back({name, kernel, warps, rounds});
  }
};

// What follows is the kernel's body; `zero` is 0.
#define BENCH(name, ...)                                                                                              \
  extern "C" __global__ void name(unsigned *took, unsigned n, unsigned zero, unsigned *words);                        \
  static Registered register_##name(#name, name, __VA_ARGS__);                                                        \
  extern "C" __global__ void __launch_bounds__(1024) name(unsigned *took, unsigned n, unsigned zero, unsigned *words)

// The usual one: the last argument n times, with x, y and z that nobody knows to be 0, 3 and 7 in all lanes.
#define ROUNDS(name, warps, rounds, before, ...)                                                                      \
  BENCH(name, warps, rounds) {                                                                                        \
    unsigned lane = threadIdx.x % 32, x = lane & zero, y = x + 3, z = x * lane + 7;                                   \
    before;                                                                                                           \
    __syncthreads();                                                                                                  \
    unsigned start = clock_now();                                                                                     \
    _Pragma("unroll 1") for (unsigned i = 0; i < n; i++) { __VA_ARGS__ }                                                    \
    end_row(took, start, x + y + z + lane);                                                                           \
  }

#define WARPS_ALL {1, 4, 8, 16, 32}
#define WARPS_EACH {1, 2, 4, 8, 16, 32}

int main(int argc, char **argv) {
  cudaDeviceProp properties;
  check_cuda(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  int clock = 0;
  cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0);
  printf("# %s (sm_%d%d), largest SM clock %d MHz, CUDA %d\nprogram,kernel,threads,n,mean,longest,first\n", properties.name,
         properties.major, properties.minor, clock / 1000, CUDART_VERSION);
  const char *program = argv[0];
  for (const char *at = program; *at; at++)
    program = *at == '/' ? at + 1 : program;
  Words took(4), words(4096);
  words.fill(0);
  for (const Row &row : rows)
    for (int warps : row.warps)
      for (int n : row.rounds) {
        unsigned sum[3] = {0}, longest = 0;
        for (int launch = 0; launch < 3; launch++) {
          took.fill(0);
          row.kernel<<<1, 32 * warps>>>(took.as_unsigned(), n, 0, words.as_unsigned());
          finish(row.name);
          sum[launch] = (unsigned)took.get(1);
          longest = (unsigned)took.get(0);
        }
        printf("%s,%s,%d,%d,%.2f,%u,%.2f\n", program, row.name, 32 * warps, n, (double)sum[2] / warps, longest,
               (double)sum[0] / warps);
      }
  return argc > 99;
}
