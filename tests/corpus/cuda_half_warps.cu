// Half warps meet at a __syncwarp() of their own while a lane of them spins: lanes that wait at the end of a branch
// for lanes that wait there go on all the same. An H200 completed both.

// The first lanes of both halves take a lock each for their half. Lanes wait for both halves at the ends of branches.
template <bool GIVES_BACK> static __device__ void count(int *lock, int *counter) {
  int lane = threadIdx.x % 32;
  unsigned half = lane < 16 ? 0xffffu : 0xffff0000u;
  if (lane % 16 == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
  }
  __syncwarp(half);
  if (lane % 16 == 3)
    (*counter)++;
  __syncwarp(half);
  if (lane % 16 == 0 && GIVES_BACK) {
    __threadfence();
    atomicExch(lock, 0);
  }
}
extern "C" __global__ void half_warps(int *lock, int *counter) { count<true>(lock, counter); }
extern "C" __global__ void half_warps_keep(int *lock, int *counter) { count<false>(lock, counter); }

// The upper half meets behind a wait of its first lane for a flag, which is set behind the branch, or in it.
template <bool BEHIND> static __device__ void wait(int *flag, int *counter) {
  int lane = threadIdx.x % 32;
  if (lane >= 16) {
    if (lane == 16)
      while (atomicCAS(flag, 1, 1) == 0) {
      }
    __syncwarp(0xffff0000u);
    atomicAdd(counter, 1);
    if (lane == 20 && !BEHIND)
      atomicExch(flag, 1);
  }
  if (lane == 0 && BEHIND)
    atomicExch(flag, 1);
}
extern "C" __global__ void half_warp_waits(int *flag, int *counter) { wait<true>(flag, counter); }
extern "C" __global__ void half_warp_waits_for_itself(int *flag, int *counter) { wait<false>(flag, counter); }
