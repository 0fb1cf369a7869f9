// A ring of slots between a warp that produces and one that consumes, with two barriers in shared memory for each slot. The fat binary beside
// it: nvcc -fatbin -lineinfo -std=c++17 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -o ring.fatbin ring.cu
#include <cuda/barrier>

using Barrier = cuda::barrier<cuda::thread_scope_block>;
constexpr int slots = 2;

// The consumer gives slots back, or forgets it.
template <bool gives_back> __device__ void ring(int *sums, const int *values, int rounds) {
  __shared__ alignas(Barrier) char storage[2 * slots][sizeof(Barrier)];
  __shared__ int slot[slots][32];
  auto full = [&](int i) -> Barrier & { return *reinterpret_cast<Barrier *>(storage[i % slots]); };
  auto empty = [&](int i) -> Barrier & { return *reinterpret_cast<Barrier *>(storage[slots + i % slots]); };
  int lane = threadIdx.x % 32;
  if (threadIdx.x < slots) {
    init(&full(threadIdx.x), 32);
    init(&empty(threadIdx.x), 32);
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int i = 0; i < rounds; i++) {
      if (i >= slots)
        empty(i).wait_parity((i / slots - 1) & 1);
      slot[i % slots][lane] = values[i] + lane;
      (void)full(i).arrive();
    }
    return;
  }
  int sum = 0;
  for (int i = 0; i < rounds; i++) {
    full(i).wait_parity(i / slots & 1);
    sum += slot[i % slots][31 - lane];
    if (gives_back)
      (void)empty(i).arrive();
  }
  sums[lane] = sum;
}

extern "C" __global__ void ring_given(int *sums, const int *values, int rounds) { ring<true>(sums, values, rounds); }
extern "C" __global__ void ring_kept(int *sums, const int *values, int rounds) { ring<false>(sums, values, rounds); }
