// How fast matrices flow: all SMs read, write, copy and transpose the words of one again and again, by tiles of 32 rows and columns.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_flow mem_flow.cu; -cubin, -ptx for the files beside it
// Run:   ./mem_flow > mem_flow.csv
// A row: what (below), blocks, words of a row, rounds, cycles of a round: the longest of a block. mem_flow.yaml runs the same kernels in lockstep, with the same output.
#include "hardware.cuh"

enum { READ, WRITE, COPY, TRANSPOSE, WRITE_BACK, COPY_BACK, WHATS };

extern "C" __global__ void __launch_bounds__(256) flow(const unsigned *from, unsigned *to, unsigned width, int what, int rounds, unsigned long long *took) {
  __shared__ unsigned tile[32][33];
  unsigned tiles = width / 32, sum = 0;
  unsigned long long start = clock64();
  for (int round = 0; round < rounds; round++)
    for (unsigned number = blockIdx.x; number < tiles * tiles; number += gridDim.x) {
      unsigned column = number % tiles * 32, row = number / tiles * 32;
      const unsigned *source = from + (size_t)(row + threadIdx.y) * width + column + threadIdx.x;
      if (what == READ) {
        for (unsigned i = 0; i < 32; i += 8)
          sum += source[i * width];
        continue;
      }
      if (what != WRITE && what != WRITE_BACK)
        for (unsigned i = 0; i < 32; i += 8)
          tile[threadIdx.y + i][threadIdx.x] = source[i * width];
      __syncthreads();
      bool back = what == TRANSPOSE || what == WRITE_BACK || what == COPY_BACK;
      unsigned *target = to + (size_t)((back ? column : row) + threadIdx.y) * width + (back ? row : column) + threadIdx.x;
      for (unsigned i = 0; i < 32; i += 8)
        target[i * width] = what == TRANSPOSE ? tile[threadIdx.x][threadIdx.y + i] : tile[threadIdx.y + i][threadIdx.x];
      __syncthreads();
    }
  if (sum == 0x5eed1e55)
    to[0] = sum;
  __syncthreads();
  if (threadIdx.x + threadIdx.y == 0)
    atomicMax(took, (unsigned long long)clock64() - start);
}

extern "C" __global__ void say(const unsigned long long *took, int what, int blocks, unsigned width, int rounds) {
  printf("%d,%d,%u,%d,%.1f\n", what, blocks, width, rounds, (double)took[0] / rounds);
}

int main() {
  unsigned *from, *to;
  unsigned long long *took;
  enum { WORDS = 4096 * 4096 };
  check_cuda(cudaMalloc(&from, 4 * WORDS), "cudaMalloc");
  check_cuda(cudaMalloc(&to, 4 * WORDS), "cudaMalloc");
  check_cuda(cudaMalloc(&took, 8), "cudaMalloc");
  check_cuda(cudaMemset(from, 0, 4 * WORDS), "cudaMemset");
  check_cuda(cudaMemset(to, 0, 4 * WORDS), "cudaMemset");
  printf("what,blocks,width,rounds,cycles\n");
  fflush(stdout);
  for (int what = 0; what < WHATS; what++)
    for (unsigned width : {256u, 512u, 1024u, 2048u, 4096u})
      for (int blocks : {8, 132, 528, 1056})
        for (int rounds : {1, width < 1024 ? 64 : width < 4096 ? 16 : 4}) {
          for (int launch = 0; launch < 2; launch++) { /* the second one counts */
            check_cuda(cudaMemset(took, 0, 8), "cudaMemset");
            flow<<<blocks, dim3(32, 8)>>>(from, to, width, what, rounds, took);
          }
          say<<<1, 1>>>(took, what, blocks, width, rounds);
          finish("flow");
          check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // prints
        }
  return 0;
}
