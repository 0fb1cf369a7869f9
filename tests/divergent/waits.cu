// waits.cu - what lets go whom, and who wins: kernels outside the rules of CUDA, whose results on an H200 the model
// follows (doc/warps.md, "Lane groups"). Arguments as in divergent.cu. The .ptx: traces/make_ptx.sh.
typedef unsigned u32;
#define KERNEL extern "C" __global__ void
#define SELF (blockIdx.x * blockDim.x + threadIdx.x)
#define LANE (threadIdx.x % 32)

// Work that ptxas can't predicate: the branch around it gets a BSSY.
__device__ __forceinline__ u32 work(u32 x) {
  while (x % 7)
    x = x * 5 + 3 + (x >> 4);
  return x;
}

// Odd lanes meet at a __syncthreads, the even ones wait at the end of the branch.
KERNEL barrier_one_side(u32 *out, const u32 *in) {
  u32 x = in[SELF];
  if (LANE & 1) {
    x = work(x);
    __syncthreads();
    x = work(x + 1);
  }
  out[SELF] = x;
}

// The same with a barrier behind the branch.
KERNEL barrier_one_side_and_after(u32 *out, const u32 *in) {
  u32 x = in[SELF];
  if (LANE & 1) {
    x = work(x);
    __syncthreads();
    x = work(x + 1);
  }
  out[SELF] = x;
  __syncthreads();
  out[SELF] = x + 1;
}

// An unaligned barrier for the odd lanes of three warps.
KERNEL unaligned_one_side(u32 *out, const u32 *in) {
  u32 x = in[SELF];
  if (LANE & 1) {
    x = work(x);
    asm volatile("barrier.sync 0;" ::: "memory");
    x = work(x + 1);
  }
  out[SELF] = x;
}

// An unaligned barrier on each side.
KERNEL unaligned_both_sides(u32 *out, const u32 *in) {
  u32 x = in[SELF];
  if (LANE & 1) {
    x = work(x);
    asm volatile("barrier.sync 0;" ::: "memory");
    x = work(x + 1);
  } else {
    x = work(x + 2);
    asm volatile("barrier.sync 0;" ::: "memory");
    x = work(x + 3);
  }
  out[SELF] = x;
}

// An aligned barrier on each side.
KERNEL barrier_both_sides(u32 *out, const u32 *in) {
  u32 x = in[SELF];
  if (LANE & 1) {
    x = work(x);
    asm volatile("bar.sync 0;" ::: "memory");
    x = work(x + 1);
  } else {
    x = work(x + 2);
    asm volatile("bar.sync 0;" ::: "memory");
    x = work(x + 3);
  }
  out[SELF] = x;
}

// A __syncwarp for all that only the odd lanes come to.
KERNEL syncwarp_one_side(u32 *out, const u32 *in) {
  u32 x = in[SELF];
  if (LANE & 1) {
    x = work(x);
    __syncwarp();
    x = work(x + 1);
  }
  out[SELF] = x;
}

// The same behind a YIELD, which makes it a WARPSYNC.
KERNEL syncwarp_behind_spin(u32 *out, const u32 *in) {
  u32 x = in[SELF];
  if (LANE & 1) {
    while (*(volatile u32 *)&in[SELF] == 1)
      ;
    __syncwarp();
    x = work(x + 1);
  }
  out[SELF] = x;
}

// Lanes that store to one word, all of them or each fourth together.
KERNEL same_word(u32 *out, const u32 *in) {
  __shared__ u32 word[8];
  __shared__ unsigned long long wide;
  word[threadIdx.x % 8] = 0;
  wide = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    word[0] = threadIdx.x + 100;
    word[1 + threadIdx.x % 4] = threadIdx.x + 200;
    if (in[threadIdx.x] % 3 == 0)
      word[5] = threadIdx.x + 300;
    *(volatile u32 *)&word[6] = threadIdx.x + 400;
    ((unsigned char *)word)[28 + threadIdx.x % 4] = threadIdx.x;
    wide = threadIdx.x + 0x100000001ull * threadIdx.x;
    u32 *mine = out + 32 * blockIdx.x;
    mine[0] = threadIdx.x + 100;
    mine[1 + threadIdx.x % 4] = threadIdx.x + 200;
    if (in[threadIdx.x] % 3 == 0)
      mine[5] = threadIdx.x + 300;
    *(volatile u32 *)&mine[6] = threadIdx.x + 400;
    ((unsigned char *)mine)[28 + threadIdx.x % 4] = threadIdx.x;
    *(unsigned long long *)&mine[8] = threadIdx.x + 0x100000001ull * threadIdx.x;
    *(uint4 *)&mine[12] = make_uint4(threadIdx.x, threadIdx.x + 1, threadIdx.x + 2, threadIdx.x + 3);
    mine[16] = atomicExch(&mine[17], threadIdx.x);
  }
  __syncthreads();
  if (threadIdx.x < 8)
    out[32 * blockIdx.x + 20 + threadIdx.x] = word[threadIdx.x];
  if (threadIdx.x == 8)
    out[32 * blockIdx.x + 28] = (u32)wide;
}
