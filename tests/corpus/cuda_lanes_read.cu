// Shuffles that read from lanes which take no part: they have returned, or aren't in the mask. What comes of it is undefined, which
// matters once somebody uses it. One warp.

// A sum of the first n numbers. Lanes without one return early, and lane 0 adds what their registers hold.
extern "C" __global__ void sum_returned(const int *in, int *out, int n) {
  int lane = threadIdx.x;
  if (lane >= n)
    return;
  int v = in[lane];
  for (int step = 16; step; step /= 2)
    v += __shfl_down_sync(~0u, v, step);
  if (lane == 0)
    *out = v;
}

// Those lanes bring a 0.
extern "C" __global__ void sum_neutral(const int *in, int *out, int n) {
  int lane = threadIdx.x, v = lane < n ? in[lane] : 0;
  for (int step = 16; step; step /= 2)
    v += __shfl_down_sync(~0u, v, step);
  if (lane == 0)
    *out = v;
}

// Half a warp: its upper lanes read beyond the mask, and nobody uses what they get.
extern "C" __global__ void half_sum(const int *in, int *out) {
  int lane = threadIdx.x;
  if (lane < 16) {
    int v = in[lane];
    for (int step = 8; step; step /= 2)
      v += __shfl_down_sync(0xffff, v, step);
    if (lane == 0)
      *out = v;
  }
}

// The first step is one too many: it reads from the other half.
extern "C" __global__ void half_sum_too_far(const int *in, int *out) {
  int lane = threadIdx.x;
  if (lane < 16) {
    int v = in[lane];
    for (int step = 16; step; step /= 2)
      v += __shfl_down_sync(0xffff, v, step);
    if (lane == 0)
      *out = v;
  }
}

// The greatest of 24 lanes by exchanges that want 32.
extern "C" __global__ void greatest_of_24(const int *in, int *out) {
  int lane = threadIdx.x;
  if (lane < 24) {
    int v = in[lane];
    for (int step = 16; step; step /= 2)
      v = max(v, __shfl_xor_sync(0xffffff, v, step));
    if (v == in[lane])
      *out = v;
  }
}

extern "C" __global__ void greatest_of_32(const int *in, int *out) {
  int lane = threadIdx.x, v = lane < 24 ? in[lane] : -1;
  for (int step = 16; step; step /= 2)
    v = max(v, __shfl_xor_sync(~0u, v, step));
  if (lane < 24 && v == in[lane])
    *out = v;
}

// The leader is the lowest lane of the warp, which took the other branch.
extern "C" __global__ void wrong_leader(int *count, int *out) {
  int lane = threadIdx.x, place = -1;
  unsigned odd = __ballot_sync(~0u, lane & 1);
  if (lane & 1) {
    int leader = __ffs(odd) - 1, first = 0;
    if (lane == leader)
      first = atomicAdd(count, __popc(odd));
    place = __shfl_sync(odd, first, 0) + __popc(odd & ((1u << lane) - 1));
    out[place & 31] = lane;
  }
}

extern "C" __global__ void right_leader(int *count, int *out) {
  int lane = threadIdx.x, place = -1;
  unsigned odd = __ballot_sync(~0u, lane & 1);
  if (lane & 1) {
    int leader = __ffs(odd) - 1, first = 0;
    if (lane == leader)
      first = atomicAdd(count, __popc(odd));
    place = __shfl_sync(odd, first, leader) + __popc(odd & ((1u << lane) - 1));
    out[place & 31] = lane;
  }
}

// Parts of 8 lanes, of which each lane reads within its own: a read beyond the end gives the lane its own value.
extern "C" __global__ void parts_of_8(const int *in, int *out) {
  int lane = threadIdx.x;
  if (lane < 8 || lane >= 24) {
    int v = in[lane];
    for (int step = 4; step; step /= 2)
      v += __shfl_down_sync(0xff0000ff, v, step, 8);
    out[lane] = v;
  }
}
