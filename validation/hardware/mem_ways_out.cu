// What SMs store in a cycle: each warp goes through lines of its own, and each lane, or each step-th one, stores a word. 8 blocks are on the SMs of one GPC, 66 on as many
// TPCs.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_ways_out mem_ways_out.cu
// Run:   ./mem_ways_out > mem_ways_out.csv
// A row: step, lines, blocks, threads of each, lines a cycle of all: by the slowest block.
#include "hardware.cuh"

enum { ROUNDS = 16, BYTES = 256 << 20 };

__global__ void store(unsigned *to, unsigned lines, unsigned step, unsigned long long *took) {
  unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = gridDim.x * blockDim.x / 32, lane = threadIdx.x % 32;
  unsigned long long start = clock64();
  for (int round = 0; round < ROUNDS; round++)
    for (unsigned line = warp; line < lines; line += warps)
      if (lane % step == 0)
        to[line * 32 + lane] = round;
  __syncthreads();
  if (threadIdx.x == 0)
    atomicMax(took, (unsigned long long)clock64() - start);
}

int main() {
  unsigned *to;
  unsigned long long *took, cycles;
  check_cuda(cudaMalloc(&to, BYTES), "cudaMalloc");
  check_cuda(cudaMalloc(&took, 8), "cudaMalloc");
  check_cuda(cudaMemset(to, 0, BYTES), "cudaMemset");
  printf("step,lines,blocks,threads,rate\n");
  for (unsigned step : {1, 8, 16, 32})
    for (unsigned lines : {32768u, 131072u})
      for (int blocks : {8, 16, 33, 66, 99, 132})
        for (int threads : {256, 1024}) {
          for (int launch = 0; launch < 2; launch++) { /* the second one counts */
            check_cuda(cudaMemset(took, 0, 8), "cudaMemset");
            store<<<blocks, threads>>>(to, lines, step, took);
          }
          finish("store");
          check_cuda(cudaMemcpy(&cycles, took, 8, cudaMemcpyDeviceToHost), "cudaMemcpy");
          printf("%u,%u,%d,%d,%.2f\n", step, lines, blocks, threads, lines * (double)ROUNDS / cycles);
        }
  return 0;
}
