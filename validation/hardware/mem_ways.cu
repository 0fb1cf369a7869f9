// Which lines an L1 keeps together: one thread loads lines in a circle that lie a stride apart, or anywhere.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_ways mem_ways.cu; -cubin, -ptx for the files beside it
// Run:   ./mem_ways > mem_ways.csv
// A row: lines from one to the next (0: random ones of 64 MB), lines, cycles of a load in the second and third round. mem_ways.yaml runs the same kernels in lockstep,
// with the same output.
#include "hardware.cuh"

enum { WORDS = 16 << 20, LINE = 32 };

static __device__ unsigned mixed(unsigned h) {
  h = (h ^ h >> 16) * 0x85EBCA6Bu;
  h = (h ^ h >> 13) * 0xC2B2AE35u;
  return h ^ h >> 16;
}
// The line that is number i of them. Random ones are all different, since all that is done to a number can be undone.
static __device__ unsigned line_of(unsigned i, unsigned stride) {
  return (stride ? i * stride : (i * 0x9E3779B1u ^ mixed(7) ^ (i * 0x9E3779B1u & (WORDS / LINE - 1)) >> 9)) & (WORDS / LINE - 1);
}

extern "C" __global__ void connect_lines(unsigned *words, unsigned lines, unsigned stride) {
  for (unsigned i = 0; i < lines; i++)
    words[line_of(i, stride) * LINE] = line_of(i + 1 < lines ? i + 1 : 0, stride) * LINE;
}

extern "C" __global__ void circle(const unsigned *words, unsigned lines, unsigned stride, unsigned long long *took) {
  unsigned at = line_of(0, stride) * LINE;
  for (unsigned i = 0; i < lines; i++)
    at = words[at];
  unsigned long long start = clock64() + (at >> 30);
  for (unsigned i = 0; i < 2 * lines; i++)
    at = words[at];
  *took = clock64() + (at >> 30) - start;
}

extern "C" __global__ void say(const unsigned long long *took, unsigned stride, unsigned lines) {
  printf("%u,%u,%.2f\n", stride, lines, (double)took[0] / (2 * lines));
}

int main() {
  unsigned *words;
  unsigned long long *took;
  check_cuda(cudaMalloc(&words, 4 * WORDS), "cudaMalloc");
  check_cuda(cudaMalloc(&took, 8), "cudaMalloc");
  check_cuda(cudaMemset(words, 0, 4 * WORDS), "cudaMemset");
  printf("stride,lines,cycles\n");
  fflush(stdout);
  for (unsigned stride : {0, 1, 2, 3, 4, 5, 7, 8, 16, 32, 33, 48, 64, 96, 128, 192, 256})
    for (unsigned lines : {2, 4, 8, 16, 32, 64, 128, 192, 256, 384, 512, 768, 1024, 1280, 1408, 1536, 1664, 1792, 1856, 1920, 1984, 2016, 2048}) {
      if ((unsigned long long)stride * lines * LINE > WORDS)
        continue;
      connect_lines<<<1, 1>>>(words, lines, stride);
      circle<<<1, 1>>>(words, lines, stride, took);
      say<<<1, 1>>>(took, stride, lines);
      finish("circle");
      check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // prints
    }
  return 0;
}
