// Atomic operations of all kinds as programs use them: flags of a bitmap, least and greatest, sums of 64 bits, of floats, doubles and halves, rings that wrap,
// pairs changed by compare-and-swap, and the same in shared memory.
#include <cuda_fp16.h>

__device__ __forceinline__ unsigned mix(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ x >> 16;
}

// Marks n random items of a set; counts those that were new.
extern "C" __global__ void bit_set(unsigned *map, unsigned *fresh, unsigned items, unsigned each) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, mine = 0;
  for (unsigned i = 0; i < each; i++) {
    unsigned item = mix(thread * each + i) % items, bit = 1u << (item & 31);
    if (!(atomicOr(&map[item >> 5], bit) & bit))
      mine++;
  }
  for (int step = 16; step; step >>= 1)
    mine += __shfl_down_sync(0xffffffffu, mine, step);
  if ((threadIdx.x & 31) == 0)
    atomicAdd(fresh, mine);
}

// The least and the greatest of each kind.
extern "C" __global__ void bounds(const unsigned *values, unsigned n, unsigned *least, unsigned *most, unsigned kinds) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned value = values[i], kind = mix(i) % kinds;
    atomicMin(&least[kind], value);
    atomicMax(&most[kind], value);
  }
}

// Sums of 64 bits by kind.
extern "C" __global__ void long_sums(const unsigned *values, unsigned n, unsigned long long *sums, unsigned kinds) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&sums[mix(i) % kinds], (unsigned long long)values[i]);
}

// Sums of doubles by kind; all are small integers, so that the sum is exact.
extern "C" __global__ void double_sums(const unsigned *values, unsigned n, double *sums, unsigned kinds) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&sums[mix(i) % kinds], (double)(values[i] & 255));
}

// The same of floats.
extern "C" __global__ void float_sums(const unsigned *values, unsigned n, float *sums, unsigned kinds) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&sums[mix(i) % kinds], (float)(values[i] & 1));
}

// The greatest double of each kind, by compare-and-swap.
extern "C" __global__ void double_most(const unsigned *values, unsigned n, unsigned long long *most, unsigned kinds) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    double value = values[i] * 0.5;
    unsigned long long *word = &most[mix(i) % kinds], seen = *(volatile unsigned long long *)word;
    while (__longlong_as_double((long long)seen) < value) {
      unsigned long long before = atomicCAS(word, seen, (unsigned long long)__double_as_longlong(value));
      if (before == seen)
        break;
      seen = before;
    }
  }
}

// Items to rings by a number that wraps.
extern "C" __global__ void wrap(unsigned *heads, unsigned *slots, unsigned rings, unsigned size, unsigned each) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned i = 0; i < each; i++) {
    unsigned ring = mix(thread + i * 7919u) % rings;
    unsigned slot = atomicInc(&heads[ring], size - 1);
    atomicAdd(&slots[ring * size + slot], 1u);
  }
}

// A pair of a value and a version, both changed at once.
extern "C" __global__ void version(unsigned long long *pairs, unsigned count, unsigned each) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned i = 0; i < each; i++) {
    unsigned long long *pair = &pairs[mix(thread * each + i) % count], seen = *(volatile unsigned long long *)pair, next;
    for (;;) {
      next = ((seen >> 32) + 1) << 32 | ((unsigned)seen + (thread & 7));
      unsigned long long before = atomicCAS(pair, seen, next);
      if (before == seen)
        break;
      seen = before;
    }
  }
}

// Two halves at a time.
extern "C" __global__ void half_sums(__half2 *sums, unsigned kinds, unsigned each) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned i = 0; i < each; i++)
    atomicAdd(&sums[mix(thread * each + i) % kinds], __floats2half2_rn(0.0f, 1.0f));
}

// A histogram of doubles in shared memory, then in global memory.
extern "C" __global__ void shared_doubles(const unsigned *values, unsigned n, double *sums) {
  __shared__ double own[64];
  for (unsigned i = threadIdx.x; i < 64; i += blockDim.x)
    own[i] = 0.0;
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&own[mix(i) % 64], (double)(values[i] & 255));
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 64; i += blockDim.x)
    atomicAdd(&sums[i], own[i]);
}

// The least of each kind of a block in shared memory, floats as their bits.
extern "C" __global__ void shared_least(const unsigned *values, unsigned n, unsigned *least, unsigned kinds) {
  extern __shared__ unsigned own_least[];
  for (unsigned i = threadIdx.x; i < kinds; i += blockDim.x)
    own_least[i] = ~0u;
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicMin(&own_least[mix(i) % kinds], values[i]);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kinds; i += blockDim.x)
    atomicMin(&least[i], own_least[i]);
}
