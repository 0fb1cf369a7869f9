// groups.cu - as divergent.cu, with operations of lanes that need not run in lockstep (sm_70 and newer).
typedef unsigned u32;
#define KERNEL extern "C" __global__ void
#define SELF (blockIdx.x * blockDim.x + threadIdx.x)
#define ALL 0xffffffffu
#define LANE (threadIdx.x % 32)

__device__ __forceinline__ u32 mix(u32 x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

// Groups of lanes by value.
KERNEL match_groups(u32 *out, const u32 *in) {
  u32 x = in[SELF] % 5;
  u32 mates = __match_any_sync(ALL, x), sum = 0;
  if (x > 1) {
    for (u32 rest = mates; rest; rest &= rest - 1)
      sum += __shfl_sync(mates, in[SELF] % 1000, __ffs(rest) - 1);
    __syncwarp(mates);
  } else {
    int alike;
    u32 other = __match_all_sync(mates, in[SELF] / 5 % 2, &alike);
    sum = other * 2 + alike;
  }
  out[SELF] = sum;
}

// Both sides of a branch exchange through shared memory, each at a __syncwarp of its own.
KERNEL syncwarp_sites(u32 *out, const u32 *in) {
  __shared__ u32 cell[128];
  u32 x = in[SELF];
  if (LANE & 1) {
    cell[threadIdx.x] = mix(x);
    __syncwarp();
    x += cell[threadIdx.x ^ 1];
    __syncwarp();
    cell[threadIdx.x] = x;
  } else {
    cell[threadIdx.x] = x * 3;
    __syncwarp();
    x -= cell[threadIdx.x ^ 1];
    __syncwarp();
    cell[threadIdx.x] = x / 2;
  }
  __syncwarp();
  out[SELF] = cell[threadIdx.x ^ 3];
}

// Lane after lane adds to a value, each when its turn has come.
KERNEL lane_relay(u32 *out, const u32 *in) {
  __shared__ volatile u32 turn[4], value[4];
  u32 warp = threadIdx.x / 32;
  if (LANE == 0)
    turn[warp] = value[warp] = 0;
  __syncwarp();
  while (turn[warp] != LANE)
    ;
  value[warp] = mix(value[warp] + in[SELF]);
  out[SELF] = value[warp];
  __threadfence_block();
  turn[warp] = LANE + 1;
}
