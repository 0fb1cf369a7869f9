// What a real GPU does with the global barriers of the slides "Synchronization": flat and hierarchical, with either
// __syncthreads removed, repeated with one and with two counters, at the resident capacity and one block above it,
// and the grid barrier of CUDA.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o slides_barriers slides_barriers.cu
// Run:   ./slides_barriers > slides_barriers.csv
//
// Left out: a __syncthreads that a part of the block's warps misses (nothing bounds it), and grid.sync with more
// blocks than can be resident (CUDA refuses the launch).
#include "hardware.cuh"
#include <climits>
#include <cooperative_groups.h>

// Every kernel does S1 (this thread's mark), the barrier, S2 (is the next block's mark there?). In the odd blocks all
// warps but the first take `slow` cycles for S1, so that a barrier that doesn't wait for them is seen.
__device__ __forceinline__ void s1(volatile int *mark, int round, int slow) {
  if (slow && blockIdx.x % 2 && threadIdx.x >= 32)
    dawdle(slow);
  mark[global_id()] = round;
}
__device__ __forceinline__ void s2(volatile int *mark, int round, int *missing) {
  int next = (global_id() + blockDim.x) % (gridDim.x * blockDim.x);
  if (mark[next] < round)
    atomicAdd(missing, 1);
}

// Flat: every thread counts itself and waits.
template <typename Word, bool FENCE>
__device__ __forceinline__ void flat(unsigned *counter, int *gave_up, int limit) {
  Patience patience(limit);
  if (FENCE)
    __threadfence();
  atomicInc(counter, UINT_MAX);
  Word *seen = counter;
  while ((*seen != blockDim.x * gridDim.x) & patience.lasts()) {
  }
  if (FENCE)
    __threadfence();
  if (patience.over())
    give_up(gave_up);
}
#define FLAT(name, word, fences)                                                                                   \
  extern "C" __global__ void name(unsigned *counter, int *mark, int *missing, int slow, int *gave_up, int limit) { \
    s1(mark, 1, slow);                                                                                             \
    flat<word, fences>(counter, gave_up, limit);                                                                   \
    s2(mark, 1, missing);                                                                                          \
  }
FLAT(barrier_flat, volatile unsigned, false)
FLAT(barrier_flat_fence, volatile unsigned, true)
FLAT(barrier_flat_plain, unsigned, false)

// Hierarchical: __syncthreads in the block, one thread of each block for the grid.
template <bool FIRST, bool SECOND, bool FENCE>
__device__ __forceinline__ void hierarchical(unsigned *counter, int *gave_up, int limit) {
  if (FIRST)
    __syncthreads();
  if (threadIdx.x == 0) {
    Patience patience(limit);
    if (FENCE)
      __threadfence();
    atomicInc(counter, UINT_MAX);
    volatile unsigned *seen = counter;
    while ((*seen != gridDim.x) & patience.lasts()) {
    }
    if (FENCE)
      __threadfence();
    if (patience.over())
      give_up(gave_up);
  }
  if (SECOND)
    __syncthreads();
}
#define HIERARCHICAL(name, first, second, fences)                                                                  \
  extern "C" __global__ void name(unsigned *counter, int *mark, int *missing, int slow, int *gave_up, int limit) { \
    s1(mark, 1, slow);                                                                                             \
    hierarchical<first, second, fences>(counter, gave_up, limit);                                                  \
    s2(mark, 1, missing);                                                                                          \
  }
HIERARCHICAL(barrier_hierarchical, true, true, false)
HIERARCHICAL(barrier_hierarchical_fence, true, true, true)
HIERARCHICAL(barrier_no_first_syncthreads, false, true, true)
HIERARCHICAL(barrier_no_second_syncthreads, true, false, true)

// Repeated. One counter that only grows: with `!=`, a block that is already in the next barrier can take the counter
// beyond the number that a slow one waits for; with `<` it can't. Two counters, for odd and even rounds, as on the
// slide. The first thread of an odd block takes `slow` cycles between counting itself and its first look.
enum Counting { ONE_EQUAL, ONE_LESS, TWO_EQUAL };
template <Counting COUNTING>
__device__ __forceinline__ void repeated(unsigned *counter, int *mark, int *missing, int rounds, int slow,
                                         int *gave_up, int limit) {
  __shared__ int stop;
  if (threadIdx.x == 0)
    stop = 0;
  for (int round = 1; round <= rounds; round++) {
    s1(mark, round, 0);
    __syncthreads();
    if (threadIdx.x == 0) {
      Patience patience(limit);
      unsigned *mine = COUNTING == TWO_EQUAL ? counter + round % 2 : counter;
      unsigned target = (COUNTING == TWO_EQUAL ? (round + 1) / 2 : round) * gridDim.x;
      __threadfence();
      atomicInc(mine, UINT_MAX);
      if (slow && blockIdx.x % 2)
        dawdle(slow);
      volatile unsigned *seen = mine;
      if (COUNTING == ONE_LESS) {
        while ((*seen < target) & patience.lasts()) {
        }
      } else {
        while ((*seen != target) & patience.lasts()) {
        }
      }
      __threadfence();
      if (patience.over()) {
        give_up(gave_up);
        stop = 1;
      }
    }
    __syncthreads();
    if (stop)
      break;
    s2(mark, round, missing);
  }
}
#define REPEATED(name, counting)                                                                                  \
  extern "C" __global__ void name(unsigned *counter, int *mark, int *missing, int rounds, int slow, int *gave_up, \
                                  int limit) {                                                                    \
    repeated<counting>(counter, mark, missing, rounds, slow, gave_up, limit);                                     \
  }
REPEATED(barrier_repeated_one_counter, ONE_EQUAL)
REPEATED(barrier_repeated_one_counter_less, ONE_LESS)
REPEATED(barrier_repeated_two_counters, TWO_EQUAL)

// The barrier that CUDA has. Launched cooperatively.
extern "C" __global__ void barrier_grid_sync(int *mark, int *missing, int rounds) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  for (int round = 1; round <= rounds; round++) {
    s1(mark, round, 0);
    grid.sync();
    s2(mark, round, missing);
  }
}

// ---- host ----

template <typename Kernel> static int capacity(Kernel kernel, int threads) {
  int blocks;
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0), "occupancy");
  return blocks * sm_count();
}

// Judges by who gave up, and by the marks missed.
static Result judge_barrier(int gave_up, int missing, long threads) {
  if (gave_up)
    return {TIMED_OUT, "", std::to_string(gave_up) + " threads gave up", true, gave_up};
  if (missing)
    return {WRONG, "", std::to_string(missing) + " of " + std::to_string(threads) + " went on early", true, missing};
  return {RIGHT, "", ""};
}

template <typename Kernel>
static void once(const char *program, const std::string &variant, Kernel kernel, int blocks, int threads, int slow,
                 int runs, int limit) {
  Words counter(1), mark(blocks * threads), missing(1), gave_up(1);
  measure(program, variant, blocks, threads, runs, [&] {
    counter.fill(0), mark.fill(0), missing.fill(0), gave_up.fill(0);
    kernel<<<blocks, threads>>>(counter.as_unsigned(), mark, missing, slow, gave_up, limit);
    finish(program);
    return judge_barrier(gave_up.get(0), missing.get(0), (long)blocks * threads);
  });
}

template <typename Kernel> static void barrier(const char *program, const char *variant, Kernel kernel, int limit) {
  const int shapes[][2] = {{1, 64}, {2, 32}, {2, 64}, {16, 128}, {132, 128}, {132, 1024}};
  for (auto &shape : shapes) {
    once(program, variant, kernel, shape[0], shape[1], 0, 200, limit);
    if (shape[1] > 32)
      once(program, variant + std::string(" slow"), kernel, shape[0], shape[1], 20000, 50, limit);
  }
}

template <typename Kernel> static void residency(const char *program, Kernel kernel, int limit) {
  for (int threads : {1024, 128}) {
    int most = capacity(kernel, threads);
    once(program, "at-capacity", kernel, most, threads, 0, 20, limit);
    once(program, "capacity-plus-1", kernel, most + 1, threads, 0, 5, limit);
    once(program, "capacity-plus-100", kernel, most + 100, threads, 0, 3, limit);
  }
}

template <typename Kernel> static void rounds(const char *program, Kernel kernel) {
  const int shapes[][2] = {{2, 64}, {16, 128}, {132, 128}, {264, 1024}};
  const int many = 200;
  for (auto &shape : shapes) {
    int blocks = shape[0], threads = shape[1], most = capacity(kernel, threads);
    if (blocks > most)
      blocks = most;
    Words counter(2), mark(blocks * threads), missing(1), gave_up(1);
    for (int slow : {0, 5000}) {
      measure(program, slow ? "slow" : "", blocks, threads, 50, [&] {
        counter.fill(0), mark.fill(0), missing.fill(0), gave_up.fill(0);
        kernel<<<blocks, threads>>>(counter.as_unsigned(), mark, missing, many, slow, gave_up, 20000);
        finish(program);
        return judge_barrier(gave_up.get(0), missing.get(0), (long)blocks * threads * many);
      });
    }
  }
}

static void grid_sync() {
  const int many = 100;
  for (int threads : {1024, 128}) {
    int blocks = capacity(barrier_grid_sync, threads);
    Words mark(blocks * threads), missing(1);
    int *marks = mark, *misses = missing, count = many;
    void *arguments[] = {&marks, &misses, &count};
    measure("barrier_grid_sync", "at-capacity", blocks, threads, 20, [&] {
      mark.fill(0), missing.fill(0);
      check_cuda(cudaLaunchCooperativeKernel(barrier_grid_sync, dim3(blocks), dim3(threads), arguments, 0, 0),
                 "grid_sync");
      finish("grid_sync");
      return judge_barrier(0, missing.get(0), (long)blocks * threads * many);
    });
  }
}

int main() {
  begin();
  case_seconds = 0.1;
  barrier("barrier_flat", "volatile", barrier_flat, 5000);
  barrier("barrier_flat", "fence", barrier_flat_fence, 5000);
  barrier("barrier_flat", "plain", barrier_flat_plain, 5000);
  barrier("barrier_hierarchical", "volatile", barrier_hierarchical, 20000);
  barrier("barrier_hierarchical", "fence", barrier_hierarchical_fence, 20000);
  barrier("barrier_no_first_syncthreads", "fence", barrier_no_first_syncthreads, 20000);
  barrier("barrier_no_second_syncthreads", "fence", barrier_no_second_syncthreads, 20000);
  residency("barrier_flat", barrier_flat, 3000);
  residency("barrier_hierarchical", barrier_hierarchical, 20000);
  rounds("barrier_repeated_one_counter", barrier_repeated_one_counter);
  rounds("barrier_repeated_one_counter_less", barrier_repeated_one_counter_less);
  rounds("barrier_repeated_two_counters", barrier_repeated_two_counters);
  grid_sync();
  return 0;
}
