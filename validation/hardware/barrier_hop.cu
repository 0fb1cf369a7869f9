// Measures, on a real GPU, what lockstep's sm.barrier parameters stand for: how long a warp that waits at a named barrier
// takes to go on after the last arrival, with and without a store to shared memory just before the arrival. The same
// kernel measures the latencies of a dependent ALU instruction and of a shared load, so that the barrier can be expressed
// in units of either and carried to a GPU of another generation.
// Build and run: nvcc -O3 -arch=native barrier_hop.cu -o barrier_hop && ./barrier_hop > barrier_hop.csv
// All loops are bounded; the program takes well under a second.
#include <cstdio>

enum { ROUNDS = 256 };

__device__ __forceinline__ unsigned now() {
  unsigned t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}
#define SYNC(id, n) asm volatile("bar.sync " #id ", " #n ";" ::: "memory")
#define ARRIVE(id, n) asm volatile("bar.arrive " #id ", " #n ";" ::: "memory")

// Two warps hand a token back and forth: A arrives at 1 and waits at 2, B waits at 1 and arrives at 2. One round is two
// hops. `STORE`: each stores to shared memory right before it arrives. `LOAD`: the waiter loads that word when it goes on,
// and the next store depends on it (the chain of the paper's reduction).
template <bool STORE, bool LOAD> __global__ void ping_pong(unsigned *out) {
  __shared__ volatile unsigned cell[64];
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, value = lane;
  cell[threadIdx.x] = lane;
  __syncthreads();
  unsigned start = now();
#pragma unroll 1
  for (int i = 0; i < ROUNDS; i++) {
    if (warp == 0) {
      if (STORE) cell[lane] = value;
      ARRIVE(1, 64);
      SYNC(2, 64);
      if (LOAD) value = cell[32 + lane];
    } else {
      SYNC(1, 64);
      if (LOAD) value = cell[lane];
      if (STORE) cell[32 + lane] = value;
      ARRIVE(2, 64);
    }
  }
  unsigned stop = now();
  if (threadIdx.x == 0) out[0] = stop - start;
  if (threadIdx.x == 32) out[1] = value;
}

// `__syncthreads` over all warps of the block, each followed by nothing or preceded by a store.
template <bool STORE> __global__ void sync_all(unsigned *out) {
  __shared__ volatile unsigned cell[1024];
  unsigned start = now();
#pragma unroll 1
  for (int i = 0; i < ROUNDS; i++) {
    if (STORE) cell[threadIdx.x] = i;
    __syncthreads();
  }
  unsigned stop = now();
  if (threadIdx.x == 0) out[0] = stop - start;
}

__global__ void alu_chain(unsigned *out, unsigned a) {
  unsigned x = threadIdx.x, start = now();
#pragma unroll 1
  for (int i = 0; i < ROUNDS; i++) {
#pragma unroll
    for (int k = 0; k < 8; k++) { // alternating, so that the assembler can't merge two of them
      asm volatile("add.u32 %0, %0, %1;" : "+r"(x) : "r"(a));
      asm volatile("xor.b32 %0, %0, %1;" : "+r"(x) : "r"(a));
    }
  }
  unsigned stop = now();
  if (threadIdx.x == 0) { out[0] = stop - start; out[1] = x; }
}

__global__ void shared_chain(unsigned *out) {
  __shared__ unsigned cell[32];
  cell[threadIdx.x] = threadIdx.x * 4;
  __syncthreads();
  unsigned p = (unsigned)__cvta_generic_to_shared(&cell[threadIdx.x]);
  unsigned base = (unsigned)__cvta_generic_to_shared(&cell[0]);
  cell[threadIdx.x] = p;
  __syncthreads();
  unsigned start = now();
#pragma unroll 1
  for (int i = 0; i < ROUNDS; i++) {
#pragma unroll
    for (int k = 0; k < 16; k++) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(p)::"memory");
  }
  unsigned stop = now();
  if (threadIdx.x == 0) { out[0] = stop - start; out[1] = p - base; }
}

static unsigned *device;

template <typename F> static double best_of(F launch) {
  unsigned best = ~0u, got;
  for (int i = 0; i < 20; i++) {
    launch();
    if (cudaDeviceSynchronize() != cudaSuccess) { fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError())); return -1; }
    cudaMemcpy(&got, device, 4, cudaMemcpyDeviceToHost);
    if (i >= 2 && got < best) best = got;
  }
  return best;
}

static void row(const char *name, double cycles, const char *what) { printf("%s,%.2f,%s\n", name, cycles, what); }

int main() {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  cudaMalloc(&device, 64);
  printf("quantity,cycles,meaning\n");
  fprintf(stderr, "%s sm_%d%d\n", properties.name, properties.major, properties.minor);
  row("alu", best_of([] { alu_chain<<<1, 32>>>(device, 3); }) / (ROUNDS * 16), "dependent integer add");
  row("shared_load", best_of([] { shared_chain<<<1, 32>>>(device); }) / (ROUNDS * 16), "dependent shared load");
  row("hop", best_of([] { ping_pong<false, false><<<1, 64>>>(device); }) / (2 * ROUNDS), "arrive to the waiter's own arrive");
  row("hop_store", best_of([] { ping_pong<true, false><<<1, 64>>>(device); }) / (2 * ROUNDS), "the same; a shared store before each arrive");
  row("hop_store_load", best_of([] { ping_pong<true, true><<<1, 64>>>(device); }) / (2 * ROUNDS), "the same; the stored value was just loaded");
  for (int warps = 1; warps <= 32; warps *= 2) {
    char name[32];
    snprintf(name, sizeof name, "sync_%d", warps);
    row(name, best_of([=] { sync_all<false><<<1, 32 * warps>>>(device); }) / ROUNDS, "__syncthreads of so many warps");
    snprintf(name, sizeof name, "sync_store_%d", warps);
    row(name, best_of([=] { sync_all<true><<<1, 32 * warps>>>(device); }) / ROUNDS, "the same; a shared store before it");
  }
  return 0;
}
