// What a fence costs: with stores outstanding, long after accesses, and beside warps and blocks that poll.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_fence mem_fence.cu
// Run:   ./mem_fence > mem_fence.csv
#include "mem.cuh"

enum { LINE = 32 /* words */, PAGE = 1024, REPEATS = 40, FIRST = 8 /* repetition that counts */ };
enum Scope { BLOCK, DEVICE, SYSTEM };
static const char *const scope_names[] = {"cta", "gl", "sys"};

template <int SCOPE> __device__ __forceinline__ void fence() {
  if (SCOPE == BLOCK)
    asm volatile("membar.cta;" ::: "memory");
  if (SCOPE == DEVICE)
    asm volatile("membar.gl;" ::: "memory");
  if (SCOPE == SYSTEM)
    asm volatile("membar.sys;" ::: "memory");
}

// The first `threads` threads of each block make `stores` stores each, to lines of their own or (SECTOR) to words one beside the other;
// then thread 0, or each of them (ALL), executes a fence. Took: of thread 0's fence.
template <int SCOPE, bool ALL, bool TOGETHER>
__global__ void after_stores(unsigned *words, int threads, int stores, long long *took) {
  unsigned *mine = words + (size_t)blockIdx.x * 256 * 16 * LINE + threadIdx.x * (TOGETHER ? 1 : LINE);
  for (int repeat = 0; repeat < REPEATS; repeat++) {
    __syncthreads();
    for (int i = 0; i < 4; i++) /* what was stored before has arrived */
      fence<SYSTEM>();
    __syncthreads();
    if (threadIdx.x < threads)
      for (int i = 0; i < stores; i++)
        touch<STORE>(mine + i * 256 * (TOGETHER ? 1 : LINE));
    if (ALL ? threadIdx.x < threads : threadIdx.x == 0) {
      long long start = now();
      fence<SCOPE>();
      long long end = now();
      if (threadIdx.x == 0 && repeat >= FIRST)
        took[blockIdx.x * (REPEATS - FIRST) + repeat - FIRST] = end - start;
    }
  }
}

template <int SCOPE, bool ALL, bool TOGETHER> static void stores(unsigned *words, int grid) {
  for (int threads : {1, 32, 64, 256})
    for (int count : {0, 1, 2, 4, 8, 16}) {
      Buffer<long long> took(grid * (REPEATS - FIRST));
      after_stores<SCOPE, ALL, TOGETHER><<<grid, 256>>>(words, threads, count, took.data);
      finish("stores");
      row("fence",
          std::string("membar.") + scope_names[SCOPE] + (ALL ? " of all" : " of one thread") + " after stores" +
              (TOGETHER ? ", together" : ", own lines"),
          grid, threads, count, 1, as_doubles(took.get()));
    }
}

// One access, a wait, and a fence. `before`: 0 nothing, 1 a store, 2 a load, 3 an atomic, 4 a reduction.
template <int SCOPE> __global__ void later(unsigned *word, int before, int wait, long long *took) {
  for (int repeat = 0; repeat < REPEATS; repeat++) {
    for (int i = 0; i < 4; i++)
      fence<SYSTEM>();
    if (before == 1)
      touch<STORE>(word);
    unsigned value = before == 2 ? touch<LOAD_VOLATILE>(word) : before == 3 ? touch<ATOM_ADD>(word) : 0;
    if (before == 4)
      touch<RED_ADD>(word);
    long long begun = now_with(value);
    while (now() - begun < wait)
      ;
    long long start = now();
    fence<SCOPE>();
    long long end = now();
    if (repeat >= FIRST)
      took[repeat - FIRST] = end - start;
  }
}

__global__ void time_atomic(unsigned *words, int pages, unsigned *sum) {
  for (int page = 0; page < pages; page++) {
    sum[page] = 0;
    for (int i = 0; i < 40; i++) {
      long long start = now();
      long long end = now_with(touch<ATOM_ADD>(words + page * PAGE));
      sum[page] += i < 8 ? 0 : (unsigned)(end - start);
    }
  }
}

template <int SCOPE> static void long_after(unsigned *near, unsigned *far) {
  static const char *const names[] = {"nothing", "a store", "a load", "an atomic", "a reduction"};
  for (int before = 0; before < 5; before++)
    for (int is_far = 0; is_far < (before ? 2 : 1); is_far++)
      for (int wait : {0, 200, 500, 1000, 2000, 5000}) {
        Buffer<long long> took(REPEATS - FIRST);
        later<SCOPE><<<1, 1>>>(is_far ? far : near, before, wait, took.data);
        finish("later");
        row("fence",
            std::string("membar.") + scope_names[SCOPE] + " some cycles after " + names[before] +
                (!before  ? ""
                 : is_far ? ", far"
                          : ", near"),
            1, 1, wait, 1, as_doubles(took.get()));
      }
}

// Warps 1 and on access `word` again and again (`how`: 0 not at all, 1 volatile loads, 2 atomics, 3 stores) while lane 0 of warp 0
// executes fences. Other blocks only poll.
template <int SCOPE> __global__ void beside(unsigned *word, int how, volatile int *stop, long long *took) {
  __shared__ volatile int ended;
  if (threadIdx.x == 0)
    ended = 0;
  __syncthreads();
  if (threadIdx.x >= 32 || blockIdx.x) {
    unsigned sum = 0;
    for (int i = 0; i < 20000 && !(blockIdx.x ? *stop : ended); i++) {
      unsigned *at = word + sum;
      sum += how == 1 ? touch<LOAD_VOLATILE>(at) : how == 2 ? touch<ATOM_ADD>(at) : how == 3 ? touch<STORE>(at) : 0;
      if (how == 0 && i >= 10)
        break;
    }
    return;
  }
  if (threadIdx.x)
    return;
  for (long long begun = now(); now() - begun < 5000;)
    ;
  for (int repeat = 0; repeat < REPEATS; repeat++) {
    long long start = now();
    fence<SCOPE>();
    long long end = now();
    if (repeat >= FIRST)
      took[repeat - FIRST] = end - start;
    for (long long begun = now(); now() - begun < 300;)
      ;
  }
  ended = 1;
  *stop = 1;
}

template <int SCOPE> static void beside_pollers(unsigned *words) {
  static const char *const names[] = {"nobody", "volatile loads", "atomics", "stores"};
  for (int how = 0; how < 4; how++)
    for (int grid : {1, 2, 264})
      for (int threads : {64, 128, 512}) {
        Buffer<long long> took(REPEATS - FIRST);
        Buffer<int> stop(1);
        stop.clear();
        beside<SCOPE><<<grid, threads>>>(words, how, stop.data, took.data);
        finish("beside");
        row("fence", std::string("membar.") + scope_names[SCOPE] + " beside " + names[how], grid, threads, 1, 1,
            as_doubles(took.get()));
      }
}

int main() {
  enum { PAGES = 256 };
  mem_begin();
  Buffer<unsigned> words(1 << 22);
  words.clear();
  stores<DEVICE, false, false>(words.data, 1);
  stores<DEVICE, true, false>(words.data, 1);
  stores<DEVICE, false, true>(words.data, 1);
  stores<DEVICE, true, true>(words.data, 1);
  stores<BLOCK, false, false>(words.data, 1);
  stores<BLOCK, true, false>(words.data, 1);
  stores<SYSTEM, false, false>(words.data, 1);
  stores<DEVICE, false, false>(words.data, 32);
  Buffer<unsigned> sums(PAGES);
  time_atomic<<<1, 1>>>(words.data, PAGES, sums.data);
  finish("time_atomic");
  std::vector<unsigned> latency = sums.get();
  size_t near = std::min_element(latency.begin(), latency.end()) - latency.begin();
  size_t far = std::max_element(latency.begin(), latency.end()) - latency.begin();
  row("fence", "atom.add of the near page", 1, 1, near, 32, {(double)latency[near]});
  row("fence", "atom.add of the far page", 1, 1, far, 32, {(double)latency[far]});
  long_after<DEVICE>(words.data + near * PAGE, words.data + far * PAGE);
  long_after<BLOCK>(words.data + near * PAGE, words.data + far * PAGE);
  beside_pollers<DEVICE>(words.data);
  beside_pollers<BLOCK>(words.data);
}
