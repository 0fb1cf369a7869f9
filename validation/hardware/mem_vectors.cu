// What reductions of several numbers a lane take: red.global.add of one, two and four floats, of pairs of halves and of doubles, by how many lanes,
// on random places of 16 bytes. The same kernels run in lockstep: mem_vectors.yaml.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_vectors mem_vectors.cu
// Run:   ./mem_vectors > mem_vectors.csv
// Columns: kind (the order of `kinds`), blocks of 32 warps, lanes, places (a power of two), cycles of an operation of an SM.
#include "mem_places.cuh"

enum { WARM_UP = 30000, TIME = 100000, MOST_PLACES = 1 << 19, STEPS = 4 };
enum Kind { F32, V2_F32, V4_F32, F16X2, V4_F16X2, F64, U32, V2_F16X2, KINDS };

template <int KIND> static __device__ __forceinline__ void add(uint4 *place) {
  float f = 0;
  unsigned h = 0;
  if (KIND == F32)
    asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" ::"l"(place), "f"(f) : "memory");
  if (KIND == V2_F32)
    asm volatile("red.relaxed.gpu.global.add.v2.f32 [%0], {%1, %1};" ::"l"(place), "f"(f) : "memory");
  if (KIND == V4_F32)
    asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"(place), "f"(f) : "memory");
  if (KIND == F16X2)
    asm volatile("red.relaxed.gpu.global.add.noftz.f16x2 [%0], %1;" ::"l"(place), "r"(h) : "memory");
  if (KIND == V2_F16X2)
    asm volatile("red.relaxed.gpu.global.add.noftz.v2.f16x2 [%0], {%1, %1};" ::"l"(place), "r"(h) : "memory");
  if (KIND == V4_F16X2)
    asm volatile("red.relaxed.gpu.global.add.noftz.v4.f16x2 [%0], {%1, %1, %1, %1};" ::"l"(place), "r"(h) : "memory");
  if (KIND == F64)
    asm volatile("red.relaxed.gpu.global.add.f64 [%0], %1;" ::"l"(place), "d"(0.0) : "memory");
  if (KIND == U32)
    asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(place), "r"(h) : "memory");
}

template <int KIND> static __device__ void count(uint4 *places, unsigned many, unsigned long long *sums) {
  unsigned state = mixed(blockIdx.x * blockDim.x + threadIdx.x + 1), start = now(), begun = 0, end = 0, rounds = 0;
  for (int i = 0; i < 100000; i++) {
    end = now();
    if (!begun && end - start > WARM_UP)
      begun = end, rounds = 0;
    if (end - start > WARM_UP + TIME)
      break;
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
      state = state * 1664525u + 1013904223u;
      add<KIND>(places + ((state >> 9) & (many - 1)));
    }
    rounds += STEPS;
  }
  if (threadIdx.x % 32 == 0)
    atomicAdd(sums, (unsigned long long)rounds);
}

extern "C" __global__ void vectors(uint4 *places, int kind, int lanes, unsigned many, unsigned long long *sums) {
  if (threadIdx.x % 32 >= lanes)
    return;
  if (kind == F32)
    count<F32>(places, many, sums);
  if (kind == V2_F32)
    count<V2_F32>(places, many, sums);
  if (kind == V4_F32)
    count<V4_F32>(places, many, sums);
  if (kind == F16X2)
    count<F16X2>(places, many, sums);
  if (kind == V4_F16X2)
    count<V4_F16X2>(places, many, sums);
  if (kind == F64)
    count<F64>(places, many, sums);
  if (kind == U32)
    count<U32>(places, many, sums);
  if (kind == V2_F16X2)
    count<V2_F16X2>(places, many, sums);
}

extern "C" __global__ void say(const unsigned long long *sums, int kind, int blocks, int lanes, unsigned many) {
  printf("%d,%d,%d,%u,%.2f\n", kind, blocks, lanes, many, (double)TIME * blocks / sums[0]);
}

int main() {
  uint4 *places;
  unsigned long long *sums;
  check_cuda(cudaMalloc(&places, MOST_PLACES * sizeof *places), "cudaMalloc");
  check_cuda(cudaMalloc(&sums, 8), "cudaMalloc");
  check_cuda(cudaMemset(places, 0, MOST_PLACES * sizeof *places), "cudaMemset");
  printf("kind,blocks,lanes,places,cycles\n");
  fflush(stdout);
  for (int kind = 0; kind < KINDS; kind++)
    for (int blocks : {1, 8, 132})
      for (int lanes : {1, 8, 32})
        for (unsigned many : {1u, 64u, 4096u, (unsigned)MOST_PLACES}) {
          check_cuda(cudaMemset(sums, 0, 8), "cudaMemset");
          vectors<<<blocks, 1024>>>(places, kind, lanes, many, sums);
          say<<<1, 1>>>(sums, kind, blocks, lanes, many);
          finish("vectors");
          check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // prints
        }
  return 0;
}
