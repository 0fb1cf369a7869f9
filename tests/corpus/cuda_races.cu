// What is handed on without all that it needs.

// The winner's lane takes a lock for its warp, whose lanes add to a row, and gives it back.
template <bool MEETS> static __device__ void add_row(int *lock, int *row) {
  int lane = threadIdx.x;
  if (lane == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
  }
  __syncwarp();
  row[lane] += 1;
  if (MEETS)
    __syncwarp();
  if (lane == 0) {
    __threadfence();
    atomicExch(lock, 0);
  }
}
extern "C" __global__ void row_of_lanes(int *lock, int *row) { add_row<false>(lock, row); }
extern "C" __global__ void row_of_warp(int *lock, int *row) { add_row<true>(lock, row); }

// A count behind the flag that is waited for.
template <bool FENCE> static __device__ void tell_and_count(int *data, volatile int *flag, int *count, int *out) {
  if (threadIdx.x != 0)
    return;
  if (blockIdx.x == 0) {
    *data = 42;
    if (FENCE)
      __threadfence();
    *flag = 1;
    atomicAdd(count, 1);
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    out[0] = atomicAdd(count, 1);
    out[1] = *data;
  }
}
extern "C" __global__ void flag_and_count(int *data, volatile int *flag, int *count, int *out) {
  tell_and_count<false>(data, flag, count, out);
}
extern "C" __global__ void flag_and_count_fenced(int *data, volatile int *flag, int *count, int *out) {
  tell_and_count<true>(data, flag, count, out);
}
