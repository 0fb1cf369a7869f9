// Which warps of an SM store first where all of them want to: warps of one block, or of several, on one SM (the others' blocks wait and leave).
// Each lane stores to a line of its own. The same kernels run in lockstep: mem_order.yaml.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_order mem_order.cu
// Run:   ./mem_order > mem_order.csv
// Columns: warps of a block, lanes of each, stores behind each other without a branch; warps on the SM; cycles in which a warp of the oldest
// block has stored 128 times, and one of the youngest (means); and, of the burst kernel, how many stores all warps had issued when each had
// to wait for the first time (more than 60 cycles between two of them).
#include "hardware.cuh"

enum { COUNT = 256, BURST = 32, MOST_WARPS = 132 * 32 };

static __device__ __forceinline__ unsigned now() {
  unsigned t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}
static __device__ __forceinline__ unsigned sm_id() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}
static __device__ __forceinline__ void put(unsigned *word) { asm volatile("st.volatile.global.u32 [%0], 0;" ::"l"(word) : "memory"); }

template <int UNROLL> static __device__ unsigned half_time(unsigned *words) {
  unsigned start = now(), half = 0;
  for (int part = 0; part < 2; part++) {
    for (int i = 0; i < COUNT / 2; i += UNROLL) {
#pragma unroll
      for (int k = 0; k < UNROLL; k++)
        put(words + k);
      asm volatile("" ::: "memory");
    }
    half = part ? half : now() - start;
  }
  return half;
}

// `half`: of each warp, cycles until it has stored COUNT / 2 times; 0 on other SMs.
extern "C" __global__ void order(unsigned *words, int lanes, int unroll, unsigned *half) {
  unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, cycles = 0;
  if (sm_id() != 0) { // they hold their SMs, so that all blocks of this one come at once
    for (unsigned start = now(); now() - start < 20000;) {
    }
    return;
  }
  if (lane >= lanes)
    return;
  unsigned *mine = words + warp * 32 * 32 + lane * 32;
  if (unroll == 1)
    cycles = half_time<1>(mine);
  if (unroll == 2)
    cycles = half_time<2>(mine);
  if (unroll == 8)
    cycles = half_time<8>(mine);
  if (lane == 0)
    half[warp] = cycles;
}

extern "C" __global__ void burst(unsigned *words, int lanes, unsigned *issued) {
  unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, before = 0, longest = 0, count = 0;
  unsigned *mine = words + warp * 32 * 32 + lane * 32, times[BURST];
  __syncthreads();
  if (lane >= lanes)
    return;
#pragma unroll
  for (int i = 0; i < BURST; i++) {
    put(mine + i % 8);
    times[i] = now();
  }
  before = times[0];
#pragma unroll
  for (int i = 0; i < BURST; i++) {
    longest = max(longest, times[i] - before);
    before = times[i];
    count += longest <= 60;
  }
  if (lane == 0)
    atomicAdd(issued, count);
}

extern "C" __global__ void say(const unsigned *half, const unsigned *issued, int blocks, int threads, int lanes, int unroll) {
  int warps = threads / 32, all = blocks * warps, there = 0;
  double oldest = 0, youngest = 0;
  for (int warp = 0; warp < all; warp++)
    there += half[warp] != 0;
  for (int warp = 0, seen = 0; warp < all; warp++)
    if (half[warp]) {
      oldest += seen < warps ? half[warp] : 0;
      youngest += seen >= there - warps ? half[warp] : 0;
      seen++;
    }
  printf("%d,%d,%d,%d,%.0f,%.0f,%u\n", warps, lanes, unroll, there, oldest / warps, youngest / warps, *issued);
}

int main() {
  unsigned *words, *half, *issued;
  check_cuda(cudaMalloc(&words, MOST_WARPS * 32 * 32 * 4), "cudaMalloc");
  check_cuda(cudaMalloc(&half, MOST_WARPS * 4), "cudaMalloc");
  check_cuda(cudaMalloc(&issued, 4), "cudaMalloc");
  check_cuda(cudaMemset(words, 0, MOST_WARPS * 32 * 32 * 4), "cudaMemset");
  printf("warps,lanes,unroll,there,oldest,youngest,issued\n");
  fflush(stdout);
  for (int there : {4, 8, 16, 32})
    for (int threads : {32, 64, 128, 256, 512, 1024})
      for (int lanes : {1, 8, 32})
        for (int unroll : {1, 2, 8})
          if (threads <= 32 * there) {
            int blocks = 132 * (32 * there / threads);
            check_cuda(cudaMemset(half, 0, MOST_WARPS * 4), "cudaMemset");
            check_cuda(cudaMemset(issued, 0, 4), "cudaMemset");
            order<<<blocks, threads>>>(words, lanes, unroll, half);
            burst<<<1, threads>>>(words, lanes, issued);
            say<<<1, 1>>>(half, issued, blocks, threads, lanes, unroll);
            finish("order");
            check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // prints
          }
  return 0;
}
