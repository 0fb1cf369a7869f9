// Lanes of one warp take locks that some of them share, in global or shared memory, four times each: which go on together, and when? Nothing but the
// warp's own lanes holds a lock.
// Build and run: nvcc -O2 -std=c++17 -arch=sm_90 -o lane_locks lane_locks.cu && ./lane_locks > lane_locks.txt; -cubin for the file beside it
// A line: the kernel, locks, seed, and for each group of lanes that have their locks at once, in order of time: the clock, and lane.round of each.
#include <cstdio>
#include <cuda/atomic>
#include <map>
#include <string>

typedef unsigned Word;
enum { LANES = 32, ROUNDS = 4, APART = 8, LOCKS_MAX = 256, SEEDS = 4 };
#define PARAMETERS Word *locks, Word *data, Word *log, Word count, Word seed

template <int KIND> static __device__ __forceinline__ void run(PARAMETERS) {
  Word lane = threadIdx.x, drawn = (seed * LANES + lane + 1) * 747796405u, start = clock();
#pragma unroll 1
  for (int round = 0; round < ROUNDS; round++) {
    drawn = drawn * 1664525u + 1013904223u;
    Word at = (drawn >> 16) % count * APART;
    cuda::atomic_ref<Word, cuda::thread_scope_device> lock(locks[at]);
    if (KIND == 0 || KIND == 2)
      while (lock.exchange(1u, cuda::memory_order_acquire))
        ;
    if (KIND == 1) {
      while (atomicCAS(locks + at, 0u, 1u))
        ;
      __threadfence();
    }
    if (KIND == 3) {
      do
        while (*(volatile Word *)(locks + at))
          ;
      while (atomicExch(locks + at, 1u));
      __threadfence();
    }
    log[lane * ROUNDS + round] = clock() - start;
    ((volatile Word *)data)[at] += 1;
    if (KIND == 0 || KIND == 2)
      lock.store(0u, cuda::memory_order_release);
    if (KIND == 1 || KIND == 3) {
      __threadfence();
      atomicExch(locks + at, 0u);
    }
    if (KIND == 2)
      __syncwarp();
  }
}

// The same in shared memory.
template <bool TOGETHER> static __device__ __forceinline__ void run_shared(PARAMETERS) {
  __shared__ Word lock[LOCKS_MAX], guarded[LOCKS_MAX];
  Word lane = threadIdx.x, drawn = (seed * LANES + lane + 1) * 747796405u;
  for (int i = lane; i < LOCKS_MAX; i += LANES)
    lock[i] = guarded[i] = 0;
  __syncwarp();
  Word start = clock();
#pragma unroll 1
  for (int round = 0; round < ROUNDS; round++) {
    drawn = drawn * 1664525u + 1013904223u;
    Word at = (drawn >> 16) % count;
    while (atomicCAS(&lock[at], 0u, 1u))
      ;
    __threadfence_block();
    log[lane * ROUNDS + round] = clock() - start;
    ((volatile Word *)guarded)[at] += 1;
    __threadfence_block();
    atomicExch(&lock[at], 0u);
    if (TOGETHER)
      __syncwarp();
  }
}

extern "C" __global__ void acquiring(PARAMETERS) { run<0>(locks, data, log, count, seed); }
extern "C" __global__ void fenced(PARAMETERS) { run<1>(locks, data, log, count, seed); }
extern "C" __global__ void together(PARAMETERS) { run<2>(locks, data, log, count, seed); }
extern "C" __global__ void looking(PARAMETERS) { run<3>(locks, data, log, count, seed); }
extern "C" __global__ void shared(PARAMETERS) { run_shared<false>(locks, data, log, count, seed); }
extern "C" __global__ void together_shared(PARAMETERS) { run_shared<true>(locks, data, log, count, seed); }

int main() {
  struct {
    const char *name;
    void (*kernel)(PARAMETERS);
  } kernels[] = {{"acquiring", acquiring}, {"fenced", fenced}, {"together", together}, {"looking", looking}, {"shared", shared}, {"together_shared", together_shared}};
  Word *locks, *data, *log, told[LANES * ROUNDS];
  cudaMalloc(&locks, LOCKS_MAX * APART * sizeof(Word));
  cudaMalloc(&data, LOCKS_MAX * APART * sizeof(Word));
  cudaMalloc(&log, sizeof told);
  for (auto &kernel : kernels)
    for (Word count : {1, 2, 4, 8, 32, 256})
      for (Word seed = 0; seed < SEEDS; seed++)
        for (int launch = 0; launch < 2; launch++) { // the first one warms the caches
          cudaMemset(locks, 0, LOCKS_MAX * APART * sizeof(Word));
          kernel.kernel<<<1, LANES>>>(locks, data, log, count, seed);
          if (cudaMemcpy(told, log, sizeof told, cudaMemcpyDeviceToHost) != cudaSuccess)
            return 2;
          if (!launch)
            continue;
          std::map<Word, std::string> groups;
          for (int i = 0; i < LANES * ROUNDS; i++)
            groups[told[i]] += (groups[told[i]].empty() ? "" : " ") + std::to_string(i / ROUNDS) + "." + std::to_string(i % ROUNDS);
          printf("%s %u %u", kernel.name, count, seed);
          for (auto &group : groups)
            printf(" | %u %s", group.first, group.second.c_str());
          printf("\n");
        }
  return 0;
}
