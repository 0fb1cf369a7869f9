// Decoupled look-back: inclusive scan, one pass. State of a tile: flag << 30 | value in one word would be short, so 64 bits:
// flag << 32 | value, flag 1 aggregate, 2 inclusive prefix. Tiles by an atomic ticket.
#include "util.cuh"
__global__ void lookback(const u32 *in, u32 *out, u64 *state, u32 *ticket) {
  __shared__ u32 tile, warps[32], before;
  u32 t = threadIdx.x, lane = t % 32, w = t / 32;
  if (t == 0) tile = atomicAdd(ticket, 1);
  __syncthreads();
  u32 i = tile * blockDim.x + t, v = in[i];
  for (int d = 1; d < 32; d *= 2) { u32 o = __shfl_up_sync(~0u, v, d); if (lane >= d) v += o; }
  if (lane == 31) warps[w] = v;
  __syncthreads();
  if (w == 0) {
    u32 s = t < blockDim.x / 32 ? warps[t] : 0;
    for (int d = 1; d < 32; d *= 2) { u32 o = __shfl_up_sync(~0u, s, d); if (lane >= d) s += o; }
    warps[t] = s;
    u32 total = __shfl_sync(~0u, s, 31);
    if (lane == 0) aref<u64>(state[tile]).store((u64)(tile ? 1 : 2) << 32 | total, memory_order_release);
    u32 prefix = 0;
    int at = (int)tile - 1 - (int)lane;
    for (bool more = tile > 0; more;) {
      u64 s;
      do s = at >= 0 ? aref<u64>(state[at]).load(memory_order_acquire) : (u64)2 << 32; while (__any_sync(~0u, !(s >> 32)));
      u32 full = __ballot_sync(~0u, s >> 32 == 2);
      u32 first = full ? __ffs(full) - 1 : 31;
      u32 add = lane <= first ? (u32)s : 0;
      for (int d = 16; d; d /= 2) add += __shfl_xor_sync(~0u, add, d);
      prefix += add;
      more = !full;
      at -= 32;
    }
    if (lane == 0) {
      before = prefix;
      if (tile) aref<u64>(state[tile]).store((u64)2 << 32 | (prefix + total), memory_order_release);
    }
  }
  __syncthreads();
  out[i] = before + v + (w ? warps[w - 1] : 0);
}
