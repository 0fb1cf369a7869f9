// All lanes come together directly before a loop in which they wait for each other: the order that __syncwarp() gives
// is that of the lanes that come to the loop, not one of each of its rounds.
__device__ __forceinline__ int look(const int *word) { return *(const volatile int *)word; }

template <bool FENCED> __device__ __forceinline__ void count_under_lock(int *lock, int *count) {
  __syncwarp();
  while (atomicCAS(lock, 0, 1))
    ;
  if (FENCED)
    __threadfence();
  ++*count;
  __threadfence();
  atomicExch(lock, 0);
}
extern "C" __global__ void fenced(int *lock, int *count) { count_under_lock<true>(lock, count); }
extern "C" __global__ void unfenced(int *lock, int *count) { count_under_lock<false>(lock, count); }

template <bool FENCED> __device__ __forceinline__ void count_by_turns(int *turn, int *count) {
  int lane = threadIdx.x;
  __syncwarp();
  while (look(turn) != lane)
    ;
  if (FENCED)
    __threadfence();
  ++*count;
  __threadfence();
  *(volatile int *)turn = lane + 1;
}
extern "C" __global__ void turns_fenced(int *turn, int *count) { count_by_turns<true>(turn, count); }
extern "C" __global__ void turns_unfenced(int *turn, int *count) { count_by_turns<false>(turn, count); }
