// How long an SM's place stays empty: from the last clock that a block reads before it exits to the first that the next block on the
// same SM reads, by how many blocks an SM holds and how large they are.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o block_gap block_gap.cu
// Run:   ./block_gap > block_gap.csv
//
// Output: CSV rows on stdout, resident,threads,spin,blocks,least,median,mean,most; times in cycles of the SM clock. Each SM's blocks are
// ordered by their clocks: behind the first `resident` ones the n-th start takes the place of the n-th end.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Times {
  unsigned sm;
  long long start, end;
};

__device__ __forceinline__ unsigned sm_of() {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}

// A block takes `spin` cycles, and up to 31 * 37 more by its number, so that those of an SM don't end together.
__global__ void take_time(Times *times, int spin) {
  long long start = clock64();
  long long wanted = spin + blockIdx.x * 7 % 31 * 37;
  while (clock64() - start < wanted) {
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    Times own = {sm_of(), start, 0};
    own.end = clock64();
    times[blockIdx.x] = own;
  }
}

static void check(cudaError_t error, const char *where) {
  if (error == cudaSuccess)
    return;
  fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(error));
  exit(1);
}

static void measure(unsigned sms, int resident, int threads, int spin) {
  int shared = resident >= 32 ? 0 : 220 * 1024 / resident - 2048, each = 12;
  unsigned blocks = sms * resident * each;
  Times *device;
  check(cudaMalloc(&device, blocks * sizeof(Times)), "malloc");
  check(cudaFuncSetAttribute(take_time, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "attribute");
  int fits = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fits, take_time, threads, shared), "occupancy");
  for (int warm = 0; warm < 2; warm++)
    take_time<<<blocks, threads, shared>>>(device, spin);
  check(cudaDeviceSynchronize(), "run");
  std::vector<Times> times(blocks);
  check(cudaMemcpy(times.data(), device, blocks * sizeof(Times), cudaMemcpyDeviceToHost), "copy");
  check(cudaFree(device), "free");
  std::vector<long long> gaps;
  for (unsigned sm = 0; sm < sms; sm++) {
    std::vector<long long> starts, ends;
    for (const Times &block : times)
      if (block.sm == sm) {
        starts.push_back(block.start);
        ends.push_back(block.end);
      }
    std::sort(starts.begin(), starts.end());
    std::sort(ends.begin(), ends.end());
    for (size_t i = fits; i < starts.size(); i++)
      gaps.push_back(starts[i] - ends[i - fits]);
  }
  std::sort(gaps.begin(), gaps.end());
  double sum = 0;
  for (long long gap : gaps)
    sum += gap;
  if (!gaps.empty())
    printf("%d,%d,%d,%u,%lld,%lld,%.1f,%lld\n", fits, threads, spin, blocks, gaps.front(), gaps[gaps.size() / 2],
           sum / gaps.size(), gaps.back());
}

int main() {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "device");
  printf("resident,threads,spin,blocks,least,median,mean,most\n");
  for (int resident : {1, 2, 4, 8, 16, 32})
    for (int threads : {32, 128, 1024})
      for (int spin : {2000, 20000})
        if (resident * threads <= 2048)
          measure(properties.multiProcessorCount, resident, threads, spin);
  return 0;
}
