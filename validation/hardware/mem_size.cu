// How much the L2 holds: all SMs read, write or copy a buffer again and again, each SM the same lines or others in turn.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_size mem_size.cu; -cubin, -ptx for the files beside it
// Run:   ./mem_size > mem_size.csv
// A row: what and before (below), MB in all, by how many blocks the lines move from pass to pass, pass; cycles of a block, as a mean.
// mem_size.yaml runs the same kernels in lockstep, with the same output; there it begins as behind a memset of what the L2 holds.
#include "hardware.cuh"

enum { READ, WRITE, COPY, WHATS };
enum { MEMSET_ALL, MEMSET, HOST_COPY }; // the buffer and as much again; the buffer, which was read before; the same by the host
enum { BLOCKS = 132, THREADS = 512, PASSES = 5 };

extern "C" __global__ void __launch_bounds__(512) pass(unsigned *words, unsigned lines, int what, unsigned moved, unsigned *took) {
  unsigned block = (blockIdx.x + moved) % gridDim.x, warps = gridDim.x * blockDim.x / 32, lane = threadIdx.x % 32, sum = 0;
  unsigned long long start = clock64();
  unsigned *to = words + (size_t)lines * 16, *at = words + lane;
  if (what == COPY)
    lines /= 2;
#pragma unroll 4
  for (unsigned line = block * blockDim.x / 32 + threadIdx.x / 32; line < lines; line += warps) {
    unsigned *word = at + (size_t)line * 32;
    unsigned value = what == WRITE ? line : __ldcg(word);
    if (what == COPY)
      word = to + lane + (size_t)line * 32;
    if (what != READ)
      *word = value;
    else
      sum += value;
  }
  if (sum == 0x5eed1e55)
    words[0] = sum;
  __syncthreads();
  if (threadIdx.x == 0)
    took[blockIdx.x] = (unsigned)(clock64() - start);
}

extern "C" __global__ void say(const unsigned *took, int blocks, int what, int before, unsigned lines, int step, int number, int wanted) {
  unsigned long long sum = 0;
  for (int i = 0; i < blocks; i++)
    sum += took[i];
  if (number == wanted)
    printf("%d,%d,%u,%d,%d,%llu\n", what, before, lines >> 13, step, number, sum / blocks);
}

int main() {
  unsigned *words, *took;
  enum { MOST = 128 };
  check_cuda(cudaMalloc(&words, (size_t)MOST << 20), "cudaMalloc");
  check_cuda(cudaMalloc(&took, 4 * BLOCKS), "cudaMalloc");
  std::vector<unsigned> host((size_t)MOST << 18);
  printf("what,before,mb,step,pass,cycles\n");
  fflush(stdout);
  auto measure = [&](int what, int before, unsigned mb, int step, int passes) {
    for (int number = 0; number < passes; number++) {
      pass<<<BLOCKS, THREADS>>>(words, mb << 13, what, step * number, took);
      say<<<1, 1>>>(took, BLOCKS, what, before, mb << 13, step, number, number);
      finish("pass");
    }
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // prints
  };
  for (int what = 0; what < WHATS; what++)
    for (unsigned mb : {8, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 80, 128})
      for (int step : {0, 33}) {
        check_cuda(cudaMemset(words, 0, (size_t)MOST << 20), "cudaMemset");
        measure(what, MEMSET_ALL, mb, step, PASSES);
      }
  for (int before : {MEMSET, HOST_COPY})
    for (int what : {READ, COPY})
      for (unsigned mb : {8, 16, 32}) {
        for (int number = 0; number < 2; number++)
          pass<<<BLOCKS, THREADS>>>(words, mb << 13, READ, 0, took);
        if (before == MEMSET)
          check_cuda(cudaMemset(words, 0, (size_t)mb << 20), "cudaMemset");
        else
          check_cuda(cudaMemcpy(words, host.data(), (size_t)mb << 20, cudaMemcpyHostToDevice), "cudaMemcpy");
        measure(what, before, mb, 0, 2);
      }
  return 0;
}
