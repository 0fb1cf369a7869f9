// How long a grid takes to start, and an empty one to run: the time from a kernel before it to one behind it, less that of one block of one warp.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o block_start block_start.cu
// Run:   ./block_start > block_start.csv
// A row: cycles that each block stays, threads, blocks an SM (0: less than one), blocks, cycles (mean of 100 runs by the global timer, at 1980 MHz), the same of one block.
#include "hardware.cuh"

enum { RUNS = 100, SMS = 132 };

__global__ void hold(volatile int *go) {
  for (int i = 0; i < 10000000 && !*go; i++)
    ;
}
__global__ void stamp(unsigned long long *to) {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  *to = now;
}
__global__ void stay(int cycles) {
  for (long long start = clock64(); clock64() - start < cycles;) {
  }
}
__global__ void leave() {}

static double measure(int blocks, int threads, int cycles) {
  static unsigned long long *times;
  static volatile int *go;
  if (!times) {
    check_cuda(cudaMalloc(&times, 2 * sizeof *times), "cudaMalloc");
    check_cuda(cudaMallocHost((void **)&go, sizeof *go), "cudaMallocHost");
  }
  double sum = 0;
  for (int run = -2; run < RUNS; run++) {
    *go = 0;
    hold<<<1, 1>>>(go);
    stamp<<<1, 1>>>(times);
    if (cycles)
      stay<<<blocks, threads>>>(cycles);
    else
      leave<<<blocks, threads>>>();
    stamp<<<1, 1>>>(times + 1);
    *go = 1;
    unsigned long long got[2];
    check_cuda(cudaMemcpy(got, times, sizeof got, cudaMemcpyDeviceToHost), "cudaMemcpy");
    sum += run < 0 ? 0 : (double)(got[1] - got[0]);
  }
  return sum / RUNS * 1.98;
}

int main() {
  printf("stay,threads,resident,blocks,cycles,one\n");
  for (int cycles : {0, 8000})
    for (int threads : {32, 64, 128, 256, 512, 1024}) {
      double one = measure(1, threads, cycles);
      for (int blocks : {2, 4, 8, 16, 33, 66, 132, 264, 528, 1056, 2112, 4224})
        if (!cycles || (blocks <= SMS * 32 && blocks * threads <= SMS * 2048))
          printf("%d,%d,%d,%d,%.0f,%.0f\n", cycles, threads, blocks / SMS, blocks, measure(blocks, threads, cycles) - one, one);
    }
  return 0;
}
