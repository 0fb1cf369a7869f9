// Stores of one warp and of several of an SM to lines that they stored to shortly before: what they take of the SM's port, and which of the
// warps of a scheduler stores first.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_stores mem_stores.cu
// Run:   ./mem_stores > mem_stores.csv
#include "mem.cuh"

enum { TIMES = 300, BLOCK_TIMES = 200, LINE = 32 /* words */, WARPS = 16 };

// The first `lanes` lanes of those warps of a block that `warps` names store each to a word, `stride` words from lane to lane and `apart`
// from warp to warp, again and again.
__global__ void by_warps(unsigned *words, unsigned warps, int lanes, int stride, int apart, int block,
                         long long *took) {
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned *at = words + (size_t)blockIdx.x * block + warp * apart + lane * stride;
  __syncthreads();
  if (!(warps >> warp & 1) || lane >= lanes)
    return;
  for (int i = 0; i < 20; i++)
    touch<STORE>(at);
  long long start = now();
  for (int i = 0; i < TIMES; i++)
    touch<STORE>(at);
  long long end = now();
  if (lane == 0)
    took[blockIdx.x * WARPS + warp] = end - start;
}

// The same of blocks of one warp; LOOP: with a branch behind each four stores.
template <bool LOOP> __global__ void by_blocks(unsigned *words, int lanes, int stride, int times, long long *took) {
  unsigned *at = words + threadIdx.x * stride;
  if (threadIdx.x >= lanes)
    return;
  for (int i = 0; i < 20; i++)
    touch<STORE>(at);
  __syncwarp(__activemask());
  long long start = now();
  if (LOOP) {
#pragma unroll 4
    for (int i = 0; i < times; i++)
      touch<STORE>(at);
  } else {
    for (int i = 0; i < BLOCK_TIMES; i++)
      touch<STORE>(at);
  }
  long long end = now();
  if (threadIdx.x == 0)
    took[blockIdx.x] = end - start;
}

static std::vector<double> of(const Buffer<long long> &took) {
  std::vector<double> each;
  for (long long cycles : took.get())
    if (cycles)
      each.push_back((double)cycles);
  return each;
}

static void warps(unsigned *words, const char *name, int stride, int apart, int block, int grid, unsigned which) {
  char who[32];
  snprintf(who, sizeof who, "warps %#x", which);
  for (int lanes : {1, 2, 4, 6, 8, 12, 15, 16, 17, 20, 24, 28, 32}) {
    Buffer<long long> took(grid * WARPS);
    took.clear();
    by_warps<<<grid, 32 * WARPS>>>(words, which, lanes, stride, apart, block, took.data);
    finish("by_warps");
    row("stores", std::string(name) + "; " + who, grid, 32 * WARPS, lanes, TIMES, of(took));
  }
}

template <bool LOOP> static void blocks(unsigned *words, int grid, int lanes) {
  Buffer<long long> took(grid);
  by_blocks<LOOP><<<grid, 32>>>(words, lanes, LINE, BLOCK_TIMES, took.data);
  finish("by_blocks");
  row("stores", LOOP ? "blocks, four in a row" : "blocks, all in a row", grid, 32, lanes, BLOCK_TIMES, of(took));
}

int main() {
  mem_begin();
  Buffer<unsigned> words(1 << 24);
  words.clear();
  unsigned *data = words.data;
  for (unsigned which : {0x1u, 0x3u, 0x11u, 0x7u, 0x1111u, 0xfu, 0x33u, 0xffu, 0xffffu}) {
    warps(data, "own lines of a warp", LINE, 32 * LINE, 0, 1, which);
    warps(data, "the same lines", LINE, 0, 0, 1, which);
  }
  for (unsigned which : {0x1u, 0x11u, 0xfu, 0xffu}) {
    warps(data, "own lines of a warp and a block", LINE, 32 * LINE, 16 * 32 * LINE, 132, which);
    warps(data, "the same lines of all blocks", LINE, 0, 0, 132, which);
    warps(data, "the same lines of a block", LINE, 0, 32 * LINE, 132, which);
    warps(data, "own lines of a warp; 16 apart", 16 * LINE, 32 * 16 * LINE, 0, 1, which);
    warps(data, "own sectors of a warp", 8, 8 * 32, 0, 1, which);
    warps(data, "the same sectors", 8, 0, 0, 1, which);
  }
  for (int grid : {132, 264, 396, 528, 660, 792, 1056, 2112})
    for (int lanes : {1, 8}) {
      blocks<false>(data, grid, lanes);
      blocks<true>(data, grid, lanes);
    }
}
