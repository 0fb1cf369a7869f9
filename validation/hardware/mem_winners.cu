// Who wins a word that all lanes try at once: each thread counts a word up by compare-and-swaps, again and again, and says that it was it.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_winners mem_winners.cu; -cubin, -ptx for the files beside it
// Run:   ./mem_winners > mem_winners.csv
// A row: blocks, warps of each, lanes of each, cycles from one winner to the next, percent of winners of the warp and of the block that won before. mem_winners.yaml runs
// the same kernels in lockstep, with the same output.
#include "hardware.cuh"

enum { MOST = 4096 };

extern "C" __global__ void winners(unsigned *word, unsigned *winner, unsigned lanes, unsigned limit, unsigned long long *took) {
  if (threadIdx.x % 32 >= lanes)
    return;
  unsigned long long start = clock64();
  unsigned seen = *(volatile unsigned *)word;
  while (seen < limit) {
    unsigned old = seen;
    seen = atomicCAS(word, old, old + 1);
    if (seen == old) {
      winner[old] = blockIdx.x * blockDim.x + threadIdx.x;
      seen = old + 1;
    }
  }
  atomicMax(took, (unsigned long long)clock64() - start);
}

extern "C" __global__ void say(const unsigned *winner, unsigned blocks, unsigned warps, unsigned lanes, unsigned limit, const unsigned long long *took) {
  unsigned warp = 0, block = 0;
  for (unsigned i = 1; i < limit; i++) {
    warp += winner[i] / 32 == winner[i - 1] / 32;
    block += winner[i] / (32 * warps) == winner[i - 1] / (32 * warps);
  }
  printf("%u,%u,%u,%.1f,%.1f,%.1f\n", blocks, warps, lanes, (double)took[0] / limit, 100.0 * warp / (limit - 1), 100.0 * block / (limit - 1));
}

int main() {
  unsigned *words, *winner;
  unsigned long long *took;
  check_cuda(cudaMalloc(&words, 1 << 20), "cudaMalloc");
  check_cuda(cudaMalloc(&winner, 4 * MOST), "cudaMalloc");
  check_cuda(cudaMalloc(&took, 8), "cudaMalloc");
  printf("blocks,warps,lanes,cycles,warp,block\n");
  fflush(stdout);
  for (unsigned lanes : {1, 8, 32})
    for (unsigned blocks : {1, 2, 4, 8, 16, 32, 132})
      for (unsigned warps : {1, 2, 4, 8, 16}) {
        unsigned limit = blocks * warps * lanes < 1024 ? 2000 : 1000;
        check_cuda(cudaMemset(words, 0, 1 << 20), "cudaMemset");
        check_cuda(cudaMemset(took, 0, 8), "cudaMemset");
        winners<<<blocks, 32 * warps>>>(words, winner, lanes, limit, took);
        say<<<1, 1>>>(winner, blocks, warps, lanes, limit, took);
        finish("winners");
        check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // prints
        if (getenv("WINNERS")) { // the order itself
          static unsigned order[MOST];
          check_cuda(cudaMemcpy(order, winner, 4 * limit, cudaMemcpyDeviceToHost), "cudaMemcpy");
          for (unsigned i = 0; i < limit; i++)
            fprintf(stderr, "%u%c", order[i], i + 1 < limit ? ' ' : '\n');
        }
      }
  return 0;
}
