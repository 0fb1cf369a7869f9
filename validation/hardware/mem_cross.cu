// What crosses between the halves of the L2: all SMs read lines of a buffer that the host has copied there, which have no copies, and then again.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_cross mem_cross.cu; -cubin, -ptx for the files beside it
// Run:   ./mem_cross > mem_cross.csv
// A row: MB, warps of an SM, lines that a warp has under way, pass (0: behind the host's copy); cycles of a block, as a mean. mem_cross.yaml runs the same
// kernels in lockstep, with the same output.
#include "hardware.cuh"

enum { BLOCKS = 132 };

template <int AT_ONCE> __device__ __forceinline__ unsigned read(const unsigned *words, unsigned lines) {
  unsigned warps = gridDim.x * blockDim.x / 32, sum = 0;
  for (unsigned line = blockIdx.x * blockDim.x / 32 + threadIdx.x / 32; line < lines; line += AT_ONCE * warps) {
    unsigned value[AT_ONCE];
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++)
      value[i] = __ldcg(words + (size_t)(line + i * warps) * 32 + threadIdx.x % 32);
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++)
      sum += value[i];
  }
  return sum;
}

// The buffer has a multiple of 8 times as many lines as there are warps, or somewhat more.
extern "C" __global__ void pass(unsigned *words, unsigned lines, int at_once, unsigned *took) {
  unsigned long long start = clock64();
  unsigned sum = at_once == 1 ? read<1>(words, lines) : at_once == 2 ? read<2>(words, lines) : at_once == 4 ? read<4>(words, lines) : read<8>(words, lines);
  if (sum == 0x5eed1e55)
    words[0] = sum;
  __syncthreads();
  if (threadIdx.x == 0)
    took[blockIdx.x] = (unsigned)(clock64() - start);
}

extern "C" __global__ void say(const unsigned *took, int blocks, int mb, int warps, int at_once, int number, int wanted) {
  unsigned long long sum = 0;
  for (int i = 0; i < blocks; i++)
    sum += took[i];
  if (number == wanted)
    printf("%d,%d,%d,%d,%llu\n", mb, warps, at_once, number, sum / blocks);
}

int main() {
  unsigned *words, *took;
  enum { MOST = 32, ROOM = 8 }; // MB
  check_cuda(cudaMalloc(&words, (size_t)(MOST + ROOM) << 20), "cudaMalloc");
  check_cuda(cudaMalloc(&took, 4 * BLOCKS), "cudaMalloc");
  std::vector<unsigned> host((size_t)(MOST + ROOM) << 18);
  printf("mb,warps,at_once,pass,cycles\n");
  fflush(stdout);
  for (int mb : {4, 16, 32})
    for (int warps : {4, 16, 32})
      for (int at_once : {1, 2, 4, 8}) {
        unsigned lines = (unsigned)mb << 13;
        for (int i = 0; i < 2; i++)
          pass<<<BLOCKS, 32 * warps>>>(words, lines, at_once, took);
        check_cuda(cudaMemcpy(words, host.data(), (size_t)(mb + ROOM) << 20, cudaMemcpyHostToDevice), "cudaMemcpy");
        for (int number = 0; number < 2; number++) {
          pass<<<BLOCKS, 32 * warps>>>(words, lines, at_once, took);
          say<<<1, 1>>>(took, BLOCKS, mb, warps, at_once, number, number);
          finish("pass");
        }
        check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // prints
      }
  return 0;
}
