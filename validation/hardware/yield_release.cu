// Measures, on a real GPU, what lockstep's sm.lane_groups.yields_to_release stands for: how long lanes that wait at a
// reconvergence point (BSYNC) are held by lanes of the same warp that still spin in a loop with YIELD.
// The first `waiters` lanes leave the loop at once and wait behind it; the other lanes spin on a flag that lane 0 sets as
// the first thing behind the loop. Each spinning lane counts its iterations, bounded by LIMIT. The bound is merged into
// the loop's condition (see hardware.cuh), or the loop would lose its YIELD; `no_yield` is that loop.
// Build and run: nvcc -O3 -std=c++17 -arch=native -o yield_release yield_release.cu && ./yield_release
// Output: CSV on stdout: the loop, how many lanes wait and spin, runs, in how many of them the flag came before the bound, and
// over those runs the iterations of a spinning lane until it saw the flag (least, median, most) and the cycles from the
// loop's start until lane 0 went on (least, median, most).
// All loops are bounded; the program takes about a second.
#include "hardware.cuh"

#include <algorithm>

enum { LIMIT = 20000, RUNS = 200 };

#define VOLATILE(p) (*(volatile int *)(p))

struct Cell {
  int flag[32], other_flag[32], seen[32], iterations[32];
  long long cycles;
};

// What stands before and behind each loop.
struct Lane {
  Cell *cell;
  int *flag, lane, n;
  long long start;
  __device__ Lane(Cell *cell, int waiters) : cell(cell), flag(&cell->flag[threadIdx.x]), lane(threadIdx.x), n(0) {
    flag[0] = lane < waiters;
    flag[32] = 0;
    __threadfence();
    __syncthreads();
    start = clock64();
  }
  __device__ void finish(int waiters) {
    if (lane == 0) {
      cell->cycles = clock64() - start;
      for (int i = waiters; i < blockDim.x; i++)
        atomicExch(&cell->flag[i], 1);
    }
    cell->iterations[lane] = n;
  }
};
#define BEFORE                                                                        \
  Lane own(cell, waiters);                                                            \
  int *flag = own.flag, &n = own.n;
#define BEHIND own.finish(waiters);

__global__ void volatile_global(Cell *cell, int waiters) {
  BEFORE
  while ((VOLATILE(flag) == 0) & (n < LIMIT))
    n++;
  BEHIND
}

__global__ void compare_and_swap(Cell *cell, int waiters) {
  BEFORE
  while ((atomicCAS(flag, 1, 1) == 0) & (n < LIMIT))
    n++;
  BEHIND
}

// The flag in shared memory: a round of the loop is twenty times shorter.
__global__ void volatile_shared(Cell *cell, int waiters) {
  __shared__ int flags[32];
  BEFORE
  int lane = own.lane;
  flag = &flags[lane];
  VOLATILE(flag) = lane < waiters;
  __syncthreads();
  own.start = clock64();
  while ((VOLATILE(flag) == 0) & (n < LIMIT))
    n++;
  if (lane == 0) {
    cell->cycles = clock64() - own.start;
    for (int i = waiters; i < blockDim.x; i++)
      VOLATILE(&flags[i]) = 1;
  }
  cell->iterations[lane] = n;
}

__global__ void swap_shared(Cell *cell, int waiters) {
  __shared__ int flags[32];
  BEFORE
  int lane = own.lane;
  flag = &flags[lane];
  VOLATILE(flag) = lane < waiters;
  __syncthreads();
  own.start = clock64();
  while ((atomicCAS(flag, 1, 1) == 0) & (n < LIMIT))
    n++;
  if (lane == 0) {
    cell->cycles = clock64() - own.start;
    for (int i = waiters; i < blockDim.x; i++)
      VOLATILE(&flags[i]) = 1;
  }
  cell->iterations[lane] = n;
}

__global__ void nanosleep(Cell *cell, int waiters) {
  BEFORE
  while ((VOLATILE(flag) == 0) & (n < LIMIT)) {
    __nanosleep(40);
    n++;
  }
  BEHIND
}

// A third way out of the loop, by the count.
__global__ void no_yield(Cell *cell, int waiters) {
  BEFORE
  int lane = own.lane;
#pragma unroll 1
  for (;;) {
    if (VOLATILE(flag) != 0)
      break;
    VOLATILE(&cell->seen[lane]) = n;
    if (VOLATILE(flag + 32) != 0)
      break;
    VOLATILE(&cell->seen[lane]) = ~n;
    if (++n >= LIMIT)
      break;
  }
  BEHIND
}

template <typename T> static void print_range(std::vector<T> &values) {
  std::sort(values.begin(), values.end());
  printf(",%lld,%lld,%lld", (long long)values.front(), (long long)values[values.size() / 2], (long long)values.back());
}

static void run(const char *name, void (*kernel)(Cell *, int), int waiters, int spinners) {
  Cell *cell, got;
  check_cuda(cudaMalloc(&cell, sizeof *cell), "cudaMalloc");
  std::vector<int> iterations;
  std::vector<long long> cycles;
  int runs = 0;
  for (double start = seconds(); runs < RUNS && (runs < 2 || seconds() - start < 0.1); runs++) {
    kernel<<<1, waiters + spinners>>>(cell, waiters);
    finish(name);
    check_cuda(cudaMemcpy(&got, cell, sizeof got, cudaMemcpyDeviceToHost), "cudaMemcpy");
    int most = *std::max_element(got.iterations + waiters, got.iterations + waiters + spinners);
    if (most >= LIMIT)
      continue;
    iterations.push_back(most);
    cycles.push_back(got.cycles);
  }
  printf("%s,%d,%d,%d,%zu", name, waiters, spinners, runs, iterations.size());
  if (iterations.empty()) {
    puts(",,,,,,");
  } else {
    print_range(iterations);
    print_range(cycles);
    puts("");
  }
  cudaFree(cell);
}

int main() {
  static const struct {
    const char *name;
    void (*kernel)(Cell *, int);
  } loops[] = {{"volatile_global", volatile_global},
               {"compare_and_swap", compare_and_swap},
               {"volatile_shared", volatile_shared},
               {"swap_shared", swap_shared},
               {"nanosleep", nanosleep},
               {"no_yield", no_yield}};
  static const int shapes[][2] = {{1, 1}, {1, 2}, {1, 4}, {1, 15}, {1, 31}, {2, 1}, {8, 1}, {31, 1}, {16, 16}};
  puts("loop,waiters,spinners,runs,released,iterations_least,iterations_median,iterations_most,"
       "cycles_least,cycles_median,cycles_most");
  for (const auto &loop : loops)
    for (const auto &shape : shapes)
      run(loop.name, loop.kernel, shape[0], shape[1]);
}
