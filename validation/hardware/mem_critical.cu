// What a critical section of two locks takes step by step, on random words: all threads take two locks, load and store two
// balances, fence, and give the locks back, or do some of these steps only. Nobody waits for a lock: each compare-and-swap
// finds 0 and leaves it. The same kernels run in lockstep: mem_critical.yaml.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_critical mem_critical.cu
// Run:   ./mem_critical > mem_critical.csv
// Columns: steps: a bit for each step, in their order: 1 and 2 compare-and-swap, 4 load, 8 store, 16 load, 32 store, 64 fence,
// 128 both stores that give back. lanes: of each warp that take part. pool: accounts of 8 bytes, a lock and a balance.
// cycles: of a round of a warp, and of these the waits for both compare-and-swaps, both loads and the fence.
#include "mem_places.cuh"

enum { WARM_UP = 40000, TIME = 100000, PARTS = 7, MOST_POOL = 1 << 20 };
enum Part { ROUNDS, WHOLE, FIRST, SECOND, LOAD1, LOAD2, FENCE };

struct Account {
  unsigned lock, balance;
};

static __device__ __forceinline__ unsigned look(const unsigned *word) { return *(const volatile unsigned *)word; }
static __device__ __forceinline__ void put(unsigned *word, unsigned value) { *(volatile unsigned *)word = value; }

extern "C" __global__ void critical(Account *accounts, unsigned pool, unsigned steps, unsigned lanes,
                                    unsigned long long *sums) {
  if (threadIdx.x % 32 >= lanes)
    return;
  unsigned state = mixed(blockIdx.x * blockDim.x + threadIdx.x + 1), spent[PARTS] = {};
  unsigned start = now(), begun = 0, end = 0, found = 0;
  for (int i = 0; i < 100000; i++) {
    end = now();
    if (!begun && end - start > WARM_UP) {
      begun = end;
      for (int part = 0; part < PARTS; part++)
        spent[part] = 0;
    }
    if (begun && end - begun > TIME)
      break;
    state = state * 1664525u + 1013904223u + found;
    Account *from = accounts + (mixed(state) & (pool - 1)), *to = accounts + (mixed(state + 1) & (pool - 1));
    if (steps & 1) {
      unsigned before = now();
      found = atomicCAS(&from->lock, 0, 0);
      spent[FIRST] += now_with(found) - before;
    }
    if (steps & 2) {
      unsigned before = now();
      found = atomicCAS(&(to + found)->lock, 0, 0);
      spent[SECOND] += now_with(found) - before;
    }
    unsigned balance = found;
    if (steps & 4) {
      unsigned before = now();
      balance = look(&(from + found)->balance);
      spent[LOAD1] += now_with(balance) - before;
    }
    if (steps & 8)
      put(&(from + found)->balance, balance);
    if (steps & 16) {
      unsigned before = now();
      balance = look(&(to + found)->balance);
      spent[LOAD2] += now_with(balance) - before;
    }
    if (steps & 32)
      put(&(to + found)->balance, balance);
    if (steps & 64) {
      unsigned before = now();
      __threadfence();
      spent[FENCE] += now() - before;
    }
    if (steps & 128) {
      put(&to->lock, 0);
      put(&from->lock, 0);
    }
    found += balance;
    spent[ROUNDS]++;
  }
  spent[WHOLE] = end - begun;
  if (threadIdx.x % 32 == 0 && begun)
    for (int part = 0; part < PARTS; part++)
      atomicAdd(&sums[part], (unsigned long long)spent[part]);
}

extern "C" __global__ void say(const unsigned long long *sums, unsigned steps, int blocks, int warps, unsigned lanes, unsigned pool) {
  double rounds = (double)sums[ROUNDS];
  printf("%u,%d,%d,%u,%u,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f\n", steps, blocks, warps, lanes, pool, sums[WHOLE] / rounds,
         sums[FIRST] / rounds, sums[SECOND] / rounds, sums[LOAD1] / rounds, sums[LOAD2] / rounds, sums[FENCE] / rounds);
}

int main() {
  Account *accounts;
  unsigned long long *sums;
  check_cuda(cudaMalloc(&accounts, MOST_POOL * sizeof *accounts), "cudaMalloc");
  check_cuda(cudaMalloc(&sums, PARTS * sizeof *sums), "cudaMalloc");
  check_cuda(cudaMemset(accounts, 0, MOST_POOL * sizeof *accounts), "cudaMemset");
  printf("steps,blocks,warps,lanes,pool,cycles,first,second,load1,load2,fence\n");
  fflush(stdout);
  for (unsigned steps : {1, 3, 0x80, 0x83, 0xc0, 0xc3, 0x14, 0x28, 0x68, 0x3c, 0x7c, 0xd7, 0xeb, 0xff, 0xbf})
    for (unsigned pool : {4096u, 32768u, (unsigned)MOST_POOL})
      for (unsigned lanes : {1, 4, 32})
        for (int blocks : {1, 8, 56, 132})
          for (int warps : {1, 8, 32}) {
            check_cuda(cudaMemset(sums, 0, PARTS * sizeof *sums), "cudaMemset");
            critical<<<blocks, 32 * warps>>>(accounts, pool, steps, lanes, sums);
            say<<<1, 1>>>(sums, steps, blocks, warps, lanes, pool);
            finish("critical");
            check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // prints
          }
  return 0;
}
