// How many additions or stores an SM has under way: each warp of some blocks issues them in a row, all blocks from one moment on. One is issued without waiting
// until something is full.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_window mem_window.cu; -cubin, -ptx for the files beside it
// Run:   ./mem_window > mem_window.csv
// A row: stores or additions, where to (0: all lanes to a word; 1: each to a word of a line; 2: eight each to a word, of four lines; 3: each to a line of its
// own; the same words for all), lanes, warps of each block, blocks, the block that is looked at, the access, and the cycles from its warp's first one to it, of
// its warp 0. mem_window.yaml runs the same kernels in lockstep, with the same output.
#include "hardware.cuh"

enum { MOST = 400, WARPS = 4, APART = 1056, TICKS = 65536 };

extern "C" __global__ void run(unsigned *words, unsigned *issued, int store, int where, int lanes, int count) {
  __shared__ unsigned at_cycle[WARPS][MOST];
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  long long now, begin;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  begin = (now / TICKS + 2) * TICKS;
  while (now < begin)
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  unsigned *word = words + (where == 0 ? 0 : where == 1 ? lane : where == 2 ? lane / 8 * APART : lane * APART);
  if (lane < lanes && store)
    for (int i = 0; i < count; i++) {
      at_cycle[warp][i] = clock();
      asm volatile("st.volatile.global.u32 [%0], 1;" ::"l"(word) : "memory");
    }
  else if (lane < lanes)
    for (int i = 0; i < count; i++) {
      at_cycle[warp][i] = clock();
      asm volatile("red.global.add.u32 [%0], 1;" ::"l"(word) : "memory");
    }
  __syncwarp();
  for (int i = lane; i < count && warp == 0; i += 32)
    issued[blockIdx.x * MOST + i] = at_cycle[0][i] - at_cycle[0][0];
}

extern "C" __global__ void say(const unsigned *issued, int store, int where, int lanes, int warps, int blocks, int count) {
  for (int block = 0; block < blocks; block += 3 + 57 * (block > 0))
    for (int i = 8; i < count; i += i < 64 ? 4 : i / 4)
      printf("%d,%d,%d,%d,%d,%d,%d,%u\n", store, where, lanes, warps, blocks, block, i, issued[block * MOST + i]);
}

int main() {
  unsigned *words, *issued;
  check_cuda(cudaMalloc(&words, 4 << 20), "cudaMalloc");
  check_cuda(cudaMalloc(&issued, 4 * 132 * MOST), "cudaMalloc");
  printf("store,where,lanes,warps,blocks,block,access,cycles\n");
  fflush(stdout);
  for (int store = 0; store < 2; store++)
    for (int where = 0; where < 4; where++)
      for (int lanes = where == 0 ? 1 : where == 2 ? 32 : 4; lanes <= 32; lanes *= 2)
        for (int warps = 1; warps <= WARPS; warps *= 4)
          for (int blocks : {1, 8, 132}) {
            int count = lanes < 16 ? MOST : 100;
            for (int i = 0; i < 2; i++) {
              run<<<blocks, 32 * warps>>>(words, issued, store, where, lanes, count);
              finish("run");
            }
            say<<<1, 1>>>(issued, store, where, lanes, warps, blocks, count);
            check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // prints
          }
  return 0;
}
