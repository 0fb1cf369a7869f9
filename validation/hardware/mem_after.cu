// What an access takes behind another one of its warp: random words of a table of pairs, of all lanes or some, alone and in a crowd.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_after mem_after.cu; -cubin, -ptx for the files beside it
// Run:   ./mem_after > mem_after.csv
// A row: what comes first (below), of so many lanes; what comes second, of so many lanes, of the same words or others; the pause between two rounds of a
// warp, in cycles, half to one and a half of it; blocks, warps of each, pairs of words; cycles of the second access, the mean over warps.
// mem_after.yaml runs the same kernels in lockstep, with the same output.
#include "mem_places.cuh"

enum { ROUNDS = 60, WARM_UP = 10, PAIRS = 32768 };
enum First { NOTHING, STORE, REDUCTION, EXCHANGE, LOAD_AND_STORE, CAS_BEFORE, FIRSTS };
enum Second { CAS, LOAD, FENCE, EXCHANGE_USED, STORE_AND_FENCE, SECONDS };

// Nothing changes what is there: zeros. The result of a load or CAS is 0, which the next address waits for.
static __device__ __forceinline__ unsigned do_first(int first, unsigned *word) {
  unsigned seen = 0, unused;
  if (first == STORE)
    *(volatile unsigned *)word = 0;
  if (first == REDUCTION)
    asm volatile("red.global.add.u32 [%0], 0;" ::"l"(word) : "memory");
  if (first == EXCHANGE)
    asm volatile("atom.global.exch.b32 %0, [%1], 0;" : "=r"(unused) : "l"(word) : "memory");
  if (first == LOAD_AND_STORE) {
    seen = *(volatile unsigned *)word;
    *(volatile unsigned *)(word + seen) = 0;
  }
  if (first == CAS_BEFORE)
    seen = atomicCAS(word, 1, 2);
  return seen;
}

extern "C" __global__ void after(unsigned *words, unsigned count, int first, int lanes1, int second, int lanes2, int same, unsigned pause,
                                 unsigned *out) {
  unsigned seed = mixed(blockIdx.x * blockDim.x + threadIdx.x + 77), seen = 0, took = 0;
  int lane = threadIdx.x % 32;
  for (int i = 0; i < ROUNDS; i++) {
    unsigned begun = now(), until = pause ? pause / 2 + mixed((blockIdx.x * 32 + threadIdx.x / 32) * 64 + i) % pause : 0;
    while (now() - begun < until)
      ;
    seed = seed * 1664525u + 1013904223u + seen;
    unsigned *word = words + 2 * (mixed(seed) & (count - 1)), *next = same ? word : words + 2 * (mixed(seed + 12345) & (count - 1));
    if (lane < lanes1)
      seen = do_first(first, word);
    __syncwarp();
    next += seen;
    if (lane < lanes2) {
      unsigned before = now(), result = 0;
      if (second == CAS)
        result = atomicCAS(next, 1, 2);
      if (second == LOAD)
        result = *(volatile unsigned *)next;
      if (second == EXCHANGE_USED)
        result = atomicExch(next, 0);
      if (second == STORE_AND_FENCE)
        *(volatile unsigned *)next = 0;
      if (second == FENCE || second == STORE_AND_FENCE)
        __threadfence();
      unsigned end = now_with(result);
      seen = result;
      took += i >= WARM_UP ? end - before : 0;
    }
    __syncwarp();
  }
  if (lane == 0) {
    atomicAdd(out, took / (ROUNDS - WARM_UP));
    atomicAdd(out + 1, 1u);
  }
}

extern "C" __global__ void say(const unsigned *out, int first, int lanes1, int second, int lanes2, int same, unsigned pause, int blocks, int warps,
                               unsigned count) {
  printf("%d,%d,%d,%d,%d,%u,%d,%d,%u,%u\n", first, lanes1, second, lanes2, same, pause, blocks, warps, count, out[0] / out[1]);
}

int main() {
  unsigned *words, *out;
  check_cuda(cudaMalloc(&words, 8 * PAIRS), "cudaMalloc");
  check_cuda(cudaMalloc(&out, 8), "cudaMalloc");
  check_cuda(cudaMemset(words, 0, 8 * PAIRS), "cudaMemset");
  printf("first,lanes1,second,lanes2,same,pause,blocks,warps,count,cycles\n");
  fflush(stdout);
  auto measure = [&](int first, int lanes1, int second, int lanes2, int same, unsigned pause, int blocks, int warps) {
    for (int run = 0; run < 2; run++) { // the first one reads the instructions
      check_cuda(cudaMemset(out, 0, 8), "cudaMemset");
      after<<<blocks, 32 * warps>>>(words, PAIRS, first, lanes1, second, lanes2, same, pause, out);
    }
    say<<<1, 1>>>(out, first, lanes1, second, lanes2, same, pause, blocks, warps, PAIRS);
    finish("after");
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // prints
  };
  for (int second = 0; second < SECONDS; second++)
    for (int first = 0; first < FIRSTS; first++)
      for (int same : {0, 1})
        for (int lanes1 : {8, 32}) {
          if (!first && (same || lanes1 == 8))
            continue;
          measure(first, lanes1, second, 8, same, 3000, 1, 1);
          measure(first, lanes1, second, 8, same, 3000, 1, 32);
          measure(first, lanes1, second, 32, same, 0, 1, 32);
          measure(first, lanes1, second, 8, same, 6000, 56, 32);
          measure(first, lanes1, second, 8, same, 0, 56, 32);
        }
  return 0;
}
