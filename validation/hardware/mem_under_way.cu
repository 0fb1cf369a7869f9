// How many additions of one SM to a word are under way: block 5 adds again and again and notes when each addition is issued, while the threads of all other
// blocks add to the same word, or nobody does. An addition is issued without waiting until something is full.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_under_way mem_under_way.cu
// Run:   ./mem_under_way > mem_under_way.csv
// A row: lanes of each warp that add, warps of block 5, whether the others add (200 additions of 256 threads of each block), where to (word: all lanes to the
// word of the others; lines: each lane to a line of its own), the warp, the number of its addition, and the cycles from its first to that one.
#include <cstdio>
#include <vector>

typedef unsigned Word;
enum { ADDITIONS = 96, WARPS = 16, BLOCKS = 132, THREADS = 256, MEASURED = 5, BESIDE = 200, LINE = 1024 };

__global__ void additions(Word *word, Word *lines, Word *issued, int lanes, int warps, int beside, bool apart) {
  __shared__ Word at_cycle[WARPS][ADDITIONS + 1];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (blockIdx.x != MEASURED) {
    for (int i = 0; i < beside; i++)
      atomicAdd(word, 1);
    return;
  }
  if (warp >= warps)
    return;
  for (long long begin = clock64(); clock64() - begin < 100000;)
    ;
  if (lane < lanes) {
    Word *at = apart ? &lines[(lane * 37 + warp) * LINE] : word;
    for (int i = 0; i < ADDITIONS; i++) {
      at_cycle[warp][i] = clock();
      asm volatile("red.global.add.u32 [%0], 1;" ::"l"(at) : "memory");
    }
  }
  at_cycle[warp][ADDITIONS] = clock();
  __syncwarp();
  for (int i = lane; i <= ADDITIONS; i += 32)
    issued[warp * (ADDITIONS + 1) + i] = at_cycle[warp][i] - at_cycle[warp][0];
}

int main() {
  Word *word, *lines, *issued;
  size_t bytes = WARPS * (ADDITIONS + 1) * sizeof(Word);
  cudaMalloc(&word, 64 << 20);
  cudaMalloc(&lines, 64 << 20);
  cudaMalloc(&issued, bytes);
  std::vector<Word> host(bytes / sizeof(Word));
  printf("lanes,warps,beside,where,warp,number,cycles\n");
  for (int apart = 0; apart < 2; apart++)
    for (int beside = 0; beside <= BESIDE; beside += BESIDE)
      for (int warps = 1; warps <= 8; warps += warps == 1 ? 3 : 4)
        for (int lanes = 1; lanes <= 32; lanes *= 2) {
          for (int run = 0; run < 2; run++)
            additions<<<BLOCKS, THREADS>>>(word, lines, issued, lanes, warps, beside, apart);
          cudaMemcpy(host.data(), issued, bytes, cudaMemcpyDeviceToHost);
          for (int warp = 0; warp < warps; warp += warps > 1 ? warps / 2 : 1)
            for (int i = 4; i <= ADDITIONS; i += 4)
              printf("%d,%d,%d,%s,%d,%d,%u\n", lanes, warps, beside, apart ? "lines" : "word", warp, i, host[warp * (ADDITIONS + 1) + i]);
        }
  return cudaDeviceSynchronize() != cudaSuccess;
}
