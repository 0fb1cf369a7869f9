// Jacobi steps in one launch: blocks keep their part in shared memory, halos double-buffered in global memory, with flags.
#include "util.cuh"
__global__ void halo(u32 *line, u32 *edges, u32 *flags, int steps) {
  extern __shared__ u32 s[]; // blockDim.x + 2, twice
  u32 n = blockDim.x, t = threadIdx.x, b = blockIdx.x, B = gridDim.x;
  u32 left = (b + B - 1) % B, right = (b + 1) % B;
  u32 *now = s, *then = s + n + 2;
  now[t + 1] = line[b * n + t];
  __syncthreads();
  for (int i = 1; i <= steps; i++) {
    if (t == 0) {
      u32 *out = edges + (i & 1) * 2 * B + 2 * b;
      out[0] = now[1]; out[1] = now[n];
      aref<u32>(flags[b * 32]).store(i, memory_order_release);
    }
    if (t < 2) {
      u32 who = t ? right : left;
      while (aref<u32>(flags[who * 32]).load(memory_order_acquire) < i) ;
      now[t ? n + 1 : 0] = edges[(i & 1) * 2 * B + 2 * who + 1 - t];
    }
    __syncthreads();
    then[t + 1] = now[t] + now[t + 1] + now[t + 2];
    __syncthreads();
    u32 *x = now; now = then; then = x;
  }
  line[b * n + t] = now[t + 1];
}
