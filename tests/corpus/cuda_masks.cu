// Member masks that fit who comes, and masks that don't; lanes that go past a block barrier. One warp or two a block.

// The mask names the upper half, which goes past the shuffle.
extern "C" __global__ void shuffle_in_branch(int *out) {
  int v = threadIdx.x;
  if (threadIdx.x < 16)
    v = __shfl_sync(0xffffffff, v, 3);
  out[threadIdx.x] = v;
}

// The mask names those that come.
extern "C" __global__ void shuffle_named(int *out) {
  int v = threadIdx.x;
  if (threadIdx.x < 16)
    v = __shfl_sync(0x0000ffff, v, 3);
  out[threadIdx.x] = v;
}

// The mask is that of the condition, which only even lanes act upon.
extern "C" __global__ void vote_wrong_ballot(int *out) {
  unsigned small = __ballot_sync(0xffffffff, threadIdx.x < 20);
  int v = 0;
  if (threadIdx.x < 20 && threadIdx.x % 2 == 0)
    v = __any_sync(small, threadIdx.x == 4);
  out[threadIdx.x] = v;
}

extern "C" __global__ void vote_right_ballot(int *out) {
  unsigned small = __ballot_sync(0xffffffff, threadIdx.x < 20);
  int v = 0;
  if (threadIdx.x < 20)
    v = __any_sync(small, threadIdx.x == 4);
  out[threadIdx.x] = v;
}

// Each group of lanes exchanges among itself, with a mask of its own, at one instruction.
extern "C" __global__ void match_groups(int *out) {
  unsigned peers = __match_any_sync(0xffffffff, threadIdx.x % 3);
  out[threadIdx.x] = __shfl_sync(peers, (int)threadIdx.x, __ffs(peers) - 1);
}

// The lanes of one mask shuffle at two places: PTX asks for the same operation, SIMT stacks for the same instruction.
extern "C" __global__ void shuffle_two_ways(int *out) {
  int v = threadIdx.x;
  if (threadIdx.x & 1) {
    out[32 + threadIdx.x] = 1;
    v = __shfl_sync(0xffffffff, v, 3) + 1;
    out[96 + threadIdx.x] = 1;
  } else {
    out[64 + threadIdx.x] = 2;
    v = __shfl_sync(0xffffffff, v, 4) * 2;
    out[128 + threadIdx.x] = 2;
  }
  out[threadIdx.x] = v;
}

// The same with two operations.
extern "C" __global__ void two_operations(int *out) {
  int v = threadIdx.x;
  if (threadIdx.x & 1) {
    out[32 + threadIdx.x] = 1;
    v = __shfl_sync(0xffffffff, v, 3) + 1;
    out[96 + threadIdx.x] = 1;
  } else {
    out[64 + threadIdx.x] = 2;
    v = __any_sync(0xffffffff, v == 4);
    out[128 + threadIdx.x] = 2;
  }
  out[threadIdx.x] = v;
}

// The lane itself isn't in its mask.
extern "C" __global__ void mask_without_me(int *out) {
  int v = threadIdx.x;
  if (threadIdx.x < 8)
    v = __shfl_sync(0x7f, v, 3);
  out[threadIdx.x] = v;
}

// Lanes that have no element return early; the others name all lanes. They exited: nobody waits for them.
extern "C" __global__ void vote_early_return(int *out, int n) {
  if (threadIdx.x >= n)
    return;
  out[threadIdx.x] = __any_sync(0xffffffff, threadIdx.x == 4);
}

// A barrier of the warp in a branch that half of it takes.
extern "C" __global__ void syncwarp_in_branch(int *out) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 16) {
    s[threadIdx.x] += 1;
    __syncwarp();
    out[threadIdx.x] = s[threadIdx.x ^ 1];
  }
  out[32 + threadIdx.x] = 1;
}

extern "C" __global__ void syncwarp_named(int *out) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 16) {
    s[threadIdx.x] += 1;
    __syncwarp(0xffff);
    out[threadIdx.x] = s[threadIdx.x ^ 1];
  }
  out[32 + threadIdx.x] = 1;
}

// Odd lanes go past the barrier, work, and exit.
extern "C" __global__ void barrier_in_branch(int *out) {
  int t = threadIdx.x;
  if (t % 2 == 0) {
    out[t] = 1;
    __syncthreads();
    out[t] += 1;
  }
  out[t + 64] = t;
}

// Lanes leave the loop after different numbers of rounds, and work behind it.
extern "C" __global__ void barrier_in_loop(int *out, int n) {
  int t = threadIdx.x;
  for (int i = 0; i < n + (t & 1); i++) {
    out[t] += i;
    __syncthreads();
  }
  out[t + 64] = t;
}

// Lanes return from the loop after different numbers of rounds: they have exited.
extern "C" __global__ void return_in_loop(int *out, int n) {
  int t = threadIdx.x;
  for (int i = 0;; i++) {
    if (i == n + (t & 1))
      return;
    out[t] += i;
    __syncthreads();
  }
}

// Whole warps go past the barrier.
extern "C" __global__ void barrier_of_a_warp(int *out) {
  int t = threadIdx.x;
  if (t < 32) {
    out[t] = 1;
    __syncthreads();
    out[t] += 1;
  }
  out[t + 64] = t;
}
