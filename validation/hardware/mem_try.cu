// What a try takes: a load past the L1, a compare-and-swap that fails or succeeds, both one behind the other, on random words.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_try mem_try.cu; -cubin, -ptx for the files beside it
// Run:   ./mem_try > mem_try.csv
// A row: what (below), blocks, warps of each, lanes of each, words, cycles of a round. mem_try.yaml runs the same kernels in lockstep, with the same output.
#include "hardware.cuh"

enum { LOAD, FAIL, SUCCEED, LOAD_FAIL, LOAD_SUCCEED, EXCHANGE, WHATS, ROUNDS = 200, WORDS = 1 << 20 };

static __device__ unsigned mixed(unsigned h) {
  h = (h ^ h >> 16) * 0x85EBCA6Bu;
  h = (h ^ h >> 13) * 0xC2B2AE35u;
  return h ^ h >> 16;
}

// All words stay 0.
template <int WHAT> static __device__ unsigned tried(unsigned *word) {
  unsigned seen = 0;
  if (WHAT == LOAD || WHAT >= LOAD_FAIL && WHAT != EXCHANGE)
    seen = *(volatile unsigned *)word;
  if (WHAT == EXCHANGE)
    seen += atomicExch(word, seen);
  else if (WHAT != LOAD)
    seen += atomicCAS(word, seen + (WHAT == FAIL || WHAT == LOAD_FAIL), seen);
  return seen;
}

template <int WHAT> static __device__ void tries(unsigned *words, unsigned lanes, unsigned count, unsigned long long *sum) {
  unsigned state = mixed(blockIdx.x * blockDim.x + threadIdx.x + 1);
  if (threadIdx.x % 32 >= lanes)
    return;
  unsigned long long start = 0;
  for (int i = -ROUNDS / 2; i < ROUNDS; i++) {
    if (i == 0)
      start = clock64();
    state = state * 1664525u + 1013904223u;
    state += tried<WHAT>(&words[mixed(state) & (count - 1)]);
  }
  if (threadIdx.x % 32 == 0)
    atomicAdd(sum, (unsigned long long)clock64() - start + (state == 0x5eed1e55));
}

extern "C" __global__ void run(unsigned *words, int what, unsigned lanes, unsigned count, unsigned long long *sum) {
  switch (what) {
  case LOAD: tries<LOAD>(words, lanes, count, sum); break;
  case FAIL: tries<FAIL>(words, lanes, count, sum); break;
  case SUCCEED: tries<SUCCEED>(words, lanes, count, sum); break;
  case LOAD_FAIL: tries<LOAD_FAIL>(words, lanes, count, sum); break;
  case LOAD_SUCCEED: tries<LOAD_SUCCEED>(words, lanes, count, sum); break;
  default: tries<EXCHANGE>(words, lanes, count, sum);
  }
}

extern "C" __global__ void say(const unsigned long long *sum, int what, unsigned blocks, unsigned warps, unsigned lanes, unsigned count) {
  printf("%d,%u,%u,%u,%u,%.1f\n", what, blocks, warps, lanes, count, (double)sum[0] / (ROUNDS * blocks * warps));
}

int main() {
  unsigned *words;
  unsigned long long *sum;
  check_cuda(cudaMalloc(&words, 4 * WORDS), "cudaMalloc");
  check_cuda(cudaMalloc(&sum, 8), "cudaMalloc");
  check_cuda(cudaMemset(words, 0, 4 * WORDS), "cudaMemset");
  printf("what,blocks,warps,lanes,count,cycles\n");
  fflush(stdout);
  auto say_row = [=](int what, unsigned blocks, unsigned warps, unsigned lanes, unsigned count) {
    check_cuda(cudaMemset(sum, 0, 8), "cudaMemset");
    run<<<blocks, 32 * warps>>>(words, what, lanes, count, sum);
    say<<<1, 1>>>(sum, what, blocks, warps, lanes, count);
    finish("run");
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // prints
  };
  for (int what = 0; what < WHATS; what++)
    for (unsigned blocks : {1, 2, 4, 8, 16, 132})
      for (unsigned warps : {1, 4})
        for (unsigned lanes : {1, 4, 32})
          for (unsigned count : {1u, 8u, 32u, 1024u, 65536u, 1u << 20})
            say_row(what, blocks, warps, lanes, count);
  return 0;
}
