// Block 0 waits for a flag that block 1 raises late, by loads that its SM's L1 cache may serve.
#include <cuda_runtime.h>

__device__ int plain(const int *at) {
  int value;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}

__device__ void raise_late(int *flag, int *count) {
  for (int i = 0; i < 200; i++)
    atomicAdd(count, 1);
  __threadfence();
  atomicExch(flag, 1);
}

extern "C" __global__ void wait_plain(int *flag, int *count) {
  if (blockIdx.x == 1)
    raise_late(flag, count);
  else
    while (plain(flag) == 0)
      ;
}

extern "C" __global__ void wait_volatile(volatile int *flag, int *count) {
  if (blockIdx.x == 1)
    raise_late((int *)flag, count);
  else
    while (*flag == 0)
      ;
}

extern "C" __global__ void wait_fence(int *flag, int *count) {
  if (blockIdx.x == 1)
    raise_late(flag, count);
  else
    while (plain(flag) == 0)
      __threadfence();
}

// A fence of the block's scope leaves the L1 alone.
extern "C" __global__ void wait_fence_block(int *flag, int *count) {
  if (blockIdx.x == 1)
    raise_late(flag, count);
  else
    while (plain(flag) == 0)
      __threadfence_block();
}

// The other warps of the block load a line each of the flag's set, again and again until the flag is up.
// Each other warp loads a line of its own, `lines` lines apart: as many as the L1 has sets, so that they lie in the flag's set.
extern "C" __global__ void wait_beside_loads(int *flag, int *count, int lines) {
  if (threadIdx.x % 32)
    return;
  if (blockIdx.x == 1) {
    if (threadIdx.x == 0)
      raise_late(flag, count);
  } else if (threadIdx.x == 0) {
    while (plain(flag) == 0)
      ;
    atomicExch(count + 1, 1);
  } else {
    while (atomicAdd(count + 1, 0) == 0)
      plain(flag + threadIdx.x / 32 * lines * 32);
  }
}

// Warp 1 changes a word beside the flag, in the same sector or in the next.
extern "C" __global__ void wait_beside_atomics(int *flag, int *count, int distance) {
  if (blockIdx.x == 1) {
    if (threadIdx.x == 0)
      raise_late(flag, count);
  } else if (threadIdx.x == 0) {
    while (plain(flag) == 0)
      ;
    atomicExch(count + 1, 1);
  } else if (threadIdx.x == 32) {
    while (atomicAdd(count + 1, 0) == 0)
      atomicExch(flag + distance, 1);
  }
}

// Warp 1 of the waiting block raises the flag by a plain store: its SM's copy is updated.
extern "C" __global__ void wait_own_sm(int *flag, int *count) {
  if (threadIdx.x == 0) {
    while (plain(flag) == 0)
      ;
  } else if (threadIdx.x == 32) {
    for (int i = 0; i < 200; i++)
      atomicAdd(count, 1);
    asm volatile("st.global.u32 [%0], %1;" : : "l"(flag), "r"(1) : "memory");
  }
}

// A ticket lock that waits for its turn by plain loads.
extern "C" __global__ void ticket(int *turn, int *tickets, int *sum, int locks, int fences) {
  int lock = (blockIdx.x * blockDim.x + threadIdx.x) % locks;
  int mine = atomicAdd(tickets + lock, 1);
  for (bool done = false; !done;) {
    if (plain(turn + lock) == mine) {
      sum[lock]++;
      __threadfence();
      turn[lock]++;
      done = true;
    } else if (fences) {
      __threadfence();
    }
  }
}
