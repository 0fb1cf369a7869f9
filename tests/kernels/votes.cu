// votes.cu - votes, shuffles and matches of sm_70 and newer; see kernels.cu.
#include "bodies.h"

#define KERNEL extern "C" __global__ void
#define SELF (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL vote_kernel(u32 *out, const u32 *in) {
  u32 x = in[SELF], lane = threadIdx.x % 32;
  u32 odd = __ballot_sync(0xffffffffu, x & 1);
  u32 rank = __popc(odd & ((1u << lane) - 1));
  bool all = __all_sync(0xffffffffu, x < 0x80000000u), any = __any_sync(0xffffffffu, x % 97 == 0);
  u32 down = __shfl_down_sync(0xffffffffu, x, 3, 8), cross = __shfl_xor_sync(0xffffffffu, x, 5), from = __shfl_sync(0xffffffffu, x, (s32)lane * 7, 16);
  u32 half = lane < 16 ? __ballot_sync(0x0000ffffu, x & 2) : __ballot_sync(0xffff0000u, x & 4);
  u32 same = __match_any_sync(0xffffffffu, x % 4);
  s32 count = __syncthreads_count(x & 8), and_ = __syncthreads_and(x != 5), or_ = __syncthreads_or(x % 1021 == 3);
  u32 *o = out + 8 * SELF;
  o[0] = odd + rank;
  o[1] = (u32)all * 2 + any;
  o[2] = down;
  o[3] = cross;
  o[4] = from;
  o[5] = half;
  o[6] = same;
  o[7] = (u32)count * 4 + (u32)(and_ != 0) * 2 + (u32)(or_ != 0);
}
