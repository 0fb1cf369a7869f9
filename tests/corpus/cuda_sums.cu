// Blocks add to sums of all threads by atomic operations; thread 0 counts its block, and the block that waits for
// all of them reads the sums plainly. What is wrong: the fence before the count is missing, the barrier before it,
// the fence behind the wait, or the barrier behind it.
enum { NOTHING, NO_RELEASE, NO_BARRIER, NO_ACQUIRE, NO_BARRIER_BEHIND };

template <int WRONG> static __device__ void sum_up(int *sums, int *count, int *out) {
  if (blockIdx.x > 0) {
    atomicAdd(&sums[threadIdx.x], (int)blockIdx.x);
    if (WRONG != NO_BARRIER)
      __syncthreads();
    if (threadIdx.x == 0) {
      if (WRONG != NO_RELEASE)
        __threadfence();
      atomicAdd(count, 1);
    }
  } else {
    if (threadIdx.x == 0)
      while (*(volatile int *)count < (int)gridDim.x - 1) {
      }
    if (WRONG != NO_ACQUIRE)
      __threadfence();
    if (WRONG != NO_BARRIER_BEHIND)
      __syncthreads();
    out[threadIdx.x] = sums[threadIdx.x];
  }
}
#define KERNEL(name, wrong) \
  extern "C" __global__ void name(int *sums, int *count, int *out) { sum_up<wrong>(sums, count, out); }
KERNEL(sums, NOTHING)
KERNEL(sums_no_release, NO_RELEASE)
KERNEL(sums_no_barrier, NO_BARRIER)
KERNEL(sums_no_acquire, NO_ACQUIRE)
KERNEL(sums_no_barrier_behind, NO_BARRIER_BEHIND)

// The same of plain stores, to a row for each block.
template <int WRONG> static __device__ void collect(int *rows, int *count, int *out) {
  if (blockIdx.x > 0) {
    rows[blockIdx.x * blockDim.x + threadIdx.x] = (int)blockIdx.x;
    if (WRONG != NO_BARRIER)
      __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(count, 1);
    }
  } else {
    if (threadIdx.x == 0)
      while (*(volatile int *)count < (int)gridDim.x - 1) {
      }
    __threadfence();
    if (WRONG != NO_BARRIER_BEHIND)
      __syncthreads();
    out[threadIdx.x] = rows[blockDim.x + threadIdx.x];
  }
}
#define ROWS(name, wrong) \
  extern "C" __global__ void name(int *rows, int *count, int *out) { collect<wrong>(rows, count, out); }
ROWS(rows, NOTHING)
ROWS(rows_no_barrier, NO_BARRIER)
ROWS(rows_no_barrier_behind, NO_BARRIER_BEHIND)
