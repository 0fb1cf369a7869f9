// Whether blocks of a kernel start while blocks of one that was launched before it, in another stream, wait for room.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o launch_order launch_order.cu
// Run:   ./launch_order > launch_order.csv
// The first kernel's blocks (one an SM: 200 KiB each) wait for a word, 10 ms at most, that the blocks of the second kernel set together. `between`: a kernel between the two, in a
// third stream, of one block with 100 KiB.
// A row: blocks of the first kernel, of the second, shared memory of one of the second's blocks (KiB), its carve-out (percent, as asked for; -1: nothing asked), whether its stream has a
// higher priority, `between`, the most and the least blocks of the first kernel that waited in vain, of 5 runs.
#include "hardware.cuh"

enum { RUNS = 5, LIMIT = 20000000, KIB = 1024, FLAG = 0, LATE = 32, CAME = 64, OTHER = 96 };

__global__ void wait_for(int *words) {
  extern __shared__ int space[];
  if (threadIdx.x)
    return;
  space[0] = 1;
  for (long long start = clock64(); !*(volatile int *)(words + FLAG);)
    if (clock64() - start > LIMIT) {
      atomicAdd(words + LATE, 1);
      return;
    }
}
__global__ void set(int *words, int wanted, int came) {
  extern __shared__ int space[];
  if (threadIdx.x)
    return;
  space[0] = 1;
  if (atomicAdd(words + came, 1) + 1 == wanted)
    atomicExch(words + FLAG, 1);
}

struct Case {
  int blocks, others, kib, carveout, priority, between;
};

static int late(const Case &one) {
  static int *words;
  if (!words)
    check_cuda(cudaMalloc(&words, 4 * KIB), "cudaMalloc");
  int least, greatest, found;
  cudaStream_t stream[3];
  check_cuda(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  for (int i = 0; i < 3; i++)
    check_cuda(cudaStreamCreateWithPriority(&stream[i], cudaStreamNonBlocking, i == 2 && one.priority ? greatest : least), "cudaStreamCreateWithPriority");
  check_cuda(cudaFuncSetAttribute(wait_for, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * KIB), "cudaFuncSetAttribute");
  check_cuda(cudaFuncSetAttribute(set, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * KIB), "cudaFuncSetAttribute");
  check_cuda(cudaFuncSetAttribute(set, cudaFuncAttributePreferredSharedMemoryCarveout, one.carveout), "cudaFuncSetAttribute");
  check_cuda(cudaMemset(words, 0, 4 * KIB), "cudaMemset");
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  wait_for<<<one.blocks, 32, 200 * KIB, stream[0]>>>(words);
  if (one.between)
    set<<<1, 32, 100 * KIB, stream[1]>>>(words, 2, OTHER);
  set<<<one.others, 32, one.kib ? one.kib * KIB : 16, stream[2]>>>(words, one.others, CAME);
  check_cuda(cudaDeviceSynchronize(), "the kernels");
  check_cuda(cudaMemcpy(&found, words + LATE, sizeof found, cudaMemcpyDeviceToHost), "cudaMemcpy");
  for (cudaStream_t one_stream : stream)
    cudaStreamDestroy(one_stream);
  return found;
}

int main() {
  const Case cases[] = {{131, 1, 0, -1, 0, 0}, {132, 1, 0, -1, 0, 0}, {133, 1, 0, -1, 0, 0}, {142, 1, 0, -1, 0, 0},
                        {332, 1, 0, -1, 0, 0}, {133, 1, 0, -1, 1, 0}, {142, 50, 0, -1, 1, 0}, {122, 500, 0, -1, 0, 0},
                        {132, 1, 0, -1, 0, 1}, {122, 1, 0, -1, 0, 1}, {122, 1, 20, -1, 0, 0}, {122, 1, 100, -1, 0, 0},
                        {122, 1, 200, -1, 0, 0}, {122, 1, 100, 100, 0, 0}, {122, 10, 100, 100, 0, 0}, {122, 20, 100, 100, 0, 0},
                        {122, 21, 100, 100, 0, 0}, {122, 1, 0, 100, 0, 0}, {122, 1, 0, 0, 0, 0}, {132, 1, 20, 100, 0, 0},
                        {132, 1, 27, 100, 0, 0}, {132, 1, 30, 100, 0, 0}, {122, 10, 200, -1, 0, 0}, {122, 11, 200, -1, 0, 0}};
  printf("blocks,others,kib,carveout,priority,between,most,least\n");
  for (const Case &one : cases) {
    int most = 0, least = one.blocks;
    for (int run = 0; run < RUNS; run++) {
      int found = late(one);
      most = found > most ? found : most;
      least = found < least ? found : least;
    }
    printf("%d,%d,%d,%d,%d,%d,%d,%d\n", one.blocks, one.others, one.kib, one.carveout, one.priority, one.between, most, least);
    fflush(stdout);
  }
  return 0;
}
