// Longest-common-subsequence table in tiles of 32 x 32: a block takes a row of tiles, and waits for the tile above by a flag.
#include "util.cuh"
__global__ void wavefront(const u32 *a, const u32 *b, u32 *table, u32 pitch, int tiles, u32 *flags) {
  __shared__ u32 s[33][33];
  int row = blockIdx.x, t = threadIdx.x;
  for (int col = 0; col < tiles; col++) {
    if (row > 0 && t == 0)
      while (aref<u32>(flags[row - 1]).load(memory_order_acquire) <= col) ;
    __syncthreads();
    u32 y = row * 32, x = col * 32;
    s[0][t + 1] = table[y * pitch + x + t + 1];
    s[t + 1][0] = table[(y + t + 1) * pitch + x];
    if (t == 0) s[0][0] = table[y * pitch + x];
    u32 mine = a[y + t];
    for (int d = 0; d < 63; d++) {
      __syncthreads();
      int j = d - t;
      if (j >= 0 && j < 32) s[t + 1][j + 1] = mine == b[x + j] ? s[t][j] + 1 : max(s[t][j + 1], s[t + 1][j]);
    }
    __syncthreads();
    for (int i = 0; i < 32; i++) table[(y + i + 1) * pitch + x + t + 1] = s[i + 1][t + 1];
    __syncthreads();
    if (t == 0) aref<u32>(flags[row]).store(col + 1, memory_order_release);
  }
}
