// What a real GPU does with the barrier programs of one block of the slides "Synchronization": neighbours across a
// barrier, convolution, maximum, the reductions, the prefix sums.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o slides_scans slides_scans.cu
// Run:   ./slides_scans > slides_scans.csv
//
// Left out, because it would hang with no way to bound it: prefix sum v6 (a __syncthreads in a divergent branch) on a
// global array, for which ptxas places a WARPSYNC of all lanes in the branch. On a shared array its barrier becomes a
// predicated BAR.SYNC, which doesn't hang on an H200; check `cuobjdump -sass` for WARPSYNC in scan_v6_shared before
// running this with another ptxas.
#include "hardware.cuh"
#include <algorithm>
#include <numeric>
#include <random>

// ---- Each thread writes its element, then looks at its neighbour's ----

extern "C" __global__ void syncthreads_vector(volatile unsigned *vector, unsigned vectorsize, int *errors) {
  unsigned id = global_id();
  vector[id] = id;
  __syncthreads();
  if (id < vectorsize - 1 && vector[id + 1] != id + 1)
    atomicAdd(errors, 1);
}
extern "C" __global__ void syncthreads_vector_no_barrier(volatile unsigned *vector, unsigned vectorsize,
                                                         int *errors) {
  unsigned id = global_id();
  vector[id] = id;
  if (id < vectorsize - 1 && vector[id + 1] != id + 1)
    atomicAdd(errors, 1);
}

// ---- 1D convolution with a filter of odd size. Cells outside count as 0. One block. ----

enum { FILTER = 5 };
__constant__ int filter[FILTER] = {3, 4, 5, 4, 3};

// The input is staged in a shared array.
template <bool BARRIER> __device__ __forceinline__ void convolve_staged(const int *input, int *output, int n) {
  __shared__ int tile[1024];
  int tid = threadIdx.x, sum = 0;
  tile[tid] = input[tid];
  if (BARRIER)
    __syncthreads();
  for (int i = 0; i < FILTER; i++) {
    int at = tid + i - FILTER / 2;
    if (at >= 0 && at < n)
      sum += filter[i] * tile[at];
  }
  output[tid] = sum;
}
extern "C" __global__ void convolution(const int *input, int *output, int n) {
  convolve_staged<true>(input, output, n);
}
extern "C" __global__ void convolution_no_barrier(const int *input, int *output, int n) {
  convolve_staged<false>(input, output, n);
}

// In place: the barrier separates the reads from the writes.
template <bool BARRIER> __device__ __forceinline__ void convolve_in_place(int *array, int n) {
  int tid = threadIdx.x, sum = 0;
  for (int i = 0; i < FILTER; i++) {
    int at = tid + i - FILTER / 2;
    if (at >= 0 && at < n)
      sum += filter[i] * array[at];
  }
  if (BARRIER)
    __syncthreads();
  array[tid] = sum;
}
extern "C" __global__ void convolution_in_place(int *array, int n) { convolve_in_place<true>(array, n); }
extern "C" __global__ void convolution_in_place_no_barrier(int *array, int n) { convolve_in_place<false>(array, n); }

// ---- Maximum; thread 0 reports it in the same kernel ----

extern "C" __global__ void maximum(const int *a, int *most, int *reported) {
  atomicMax(most, a[global_id()]);
  __syncthreads();
  if (global_id() == 0)
    *reported = *(volatile int *)most;
}
extern "C" __global__ void maximum_no_barrier(const int *a, int *most, int *reported) {
  atomicMax(most, a[global_id()]);
  if (global_id() == 0)
    *reported = *(volatile int *)most;
}

// ---- Reductions and prefix sums, each on a shared and on a global array. One block; `a` has 2 * 1024 words. ----

// Defines NAME_shared (copies data in and out) and NAME_global from BODY(a, n).
#define ON_SHARED(name, body)                                             \
  extern "C" __global__ void name##_shared(int *data, int n, int limit) { \
    __shared__ int a[2048];                                               \
    for (int i = threadIdx.x; i < 2048; i += blockDim.x)                  \
      a[i] = data[i];                                                     \
    __syncthreads();                                                      \
    body(a, n, limit);                                                    \
    __syncthreads();                                                      \
    for (int i = threadIdx.x; i < 2048; i += blockDim.x)                  \
      data[i] = a[i];                                                     \
  }
#define ON_GLOBAL(name, body) \
  extern "C" __global__ void name##_global(int *data, int n, int limit) { body(data, n, limit); }
#define ON_BOTH(name, body) ON_SHARED(name, body) ON_GLOBAL(name, body)

// Reductions: n elements, n / 2 threads, the sum ends in a[0].
__device__ __forceinline__ void half(int *a, int n, int) {
  for (int off = n / 2; off; off /= 2) {
    if (threadIdx.x < off)
      a[threadIdx.x] += a[threadIdx.x + off];
    __syncthreads();
  }
}
__device__ __forceinline__ void half_no_barrier(int *a, int n, int) {
  for (int off = n / 2; off; off /= 2) {
    if (threadIdx.x < off)
      a[threadIdx.x] += a[threadIdx.x + off];
  }
}
__device__ __forceinline__ void mirror(int *a, int n, int) {
  for (int off = n / 2; off; off /= 2) {
    if (threadIdx.x < off)
      a[threadIdx.x] += a[2 * off - threadIdx.x - 1];
    __syncthreads();
  }
}
// Neighbours, as the first diagram has it: thread 1 may overwrite a[1] before thread 0 has read it.
__device__ __forceinline__ void adjacent(int *a, int n, int) {
  for (int off = n / 2; off; off /= 2) {
    if (threadIdx.x < off)
      a[threadIdx.x] = a[2 * threadIdx.x] + a[2 * threadIdx.x + 1];
    __syncthreads();
  }
}
// Reads and writes separated by a temporary and another barrier.
__device__ __forceinline__ void adjacent_separated(int *a, int n, int) {
  int tmp = 0;
  for (int off = n / 2; off; off /= 2) {
    if (threadIdx.x < off)
      tmp = a[2 * threadIdx.x] + a[2 * threadIdx.x + 1];
    __syncthreads();
    if (threadIdx.x < off)
      a[threadIdx.x] = tmp;
    __syncthreads();
  }
}
ON_BOTH(reduce_half, half)
ON_BOTH(reduce_half_no_barrier, half_no_barrier)
ON_BOTH(reduce_mirror, mirror)
ON_BOTH(reduce_adjacent, adjacent)
ON_BOTH(reduce_adjacent_separated, adjacent_separated)

extern "C" __global__ void reduce_atomic(int *data, int n, int limit) {
  __shared__ int sum;
  int tid = threadIdx.x;
  if (tid == 0)
    sum = 0;
  __syncthreads();
  atomicAdd(&sum, data[tid]);
  atomicAdd(&sum, data[tid + n / 2]);
  __syncthreads();
  if (tid == 0)
    data[0] = sum;
}

// Concatenation of strings, which is associative but not commutative. A string is (hash, 31^length); the hash of ab
// is hash(a) * 31^length(b) + hash(b). The second words of the strings lie at a[1024] on.
__device__ __forceinline__ void concatenate_half(int *a, int n, int) {
  int *power = a + 1024;
  for (int off = n / 2; off; off /= 2) {
    if (threadIdx.x < off) {
      int other = threadIdx.x + off;
      a[threadIdx.x] = a[threadIdx.x] * power[other] + a[other];
      power[threadIdx.x] *= power[other];
    }
    __syncthreads();
  }
}
__device__ __forceinline__ void concatenate_adjacent(int *a, int n, int) {
  int *power = a + 1024, hash = 0, both = 0;
  for (int off = n / 2; off; off /= 2) {
    int left = 2 * threadIdx.x, right = left + 1;
    if (threadIdx.x < off) {
      hash = a[left] * power[right] + a[right];
      both = power[left] * power[right];
    }
    __syncthreads();
    if (threadIdx.x < off) {
      a[threadIdx.x] = hash;
      power[threadIdx.x] = both;
    }
    __syncthreads();
  }
}
ON_SHARED(concatenate_half, concatenate_half)
ON_SHARED(concatenate_adjacent, concatenate_adjacent)

// Prefix sums v1 to v7: n threads, a[i] should become the sum of a[0] to a[i]. Beyond a[n - 1] there are zeros.
__device__ __forceinline__ void v1(int *a, int n, int) {
  for (int off = n / 2; off; off /= 2) {
    if (threadIdx.x < off)
      a[threadIdx.x] += a[threadIdx.x + off];
    __syncthreads();
  }
}
__device__ __forceinline__ void v2(int *a, int n, int) {
  for (int off = n; off; off /= 2) {
    if (threadIdx.x < off)
      a[threadIdx.x] += a[threadIdx.x + off];
    __syncthreads();
  }
}
__device__ __forceinline__ void v3(int *a, int n, int) {
  for (int off = n / 2; off; off /= 2) {
    if (threadIdx.x < off)
      a[threadIdx.x] += a[threadIdx.x + (n - off)];
    __syncthreads();
  }
}
// The offset stays 0: an endless loop.
__device__ __forceinline__ bool v4_ends(int *a, int n, int limit) {
  Patience patience(limit);
  for (int off = 0; (off < n) & patience.lasts(); off *= 2) {
    if (threadIdx.x > off)
      a[threadIdx.x] += a[threadIdx.x - off];
    __syncthreads();
  }
  return !patience.over();
}
// The last word tells that a thread gave up.
__device__ __forceinline__ void v4(int *a, int n, int limit) {
  if (!v4_ends(a, n, limit))
    a[2047] = 1;
}
__device__ __forceinline__ void v5(int *a, int n, int) {
  for (int off = 1; off < n; off *= 2) {
    if (threadIdx.x > off)
      a[threadIdx.x] += a[threadIdx.x - off];
    __syncthreads();
  }
}
// v5 with the comparison of v7, so that only the race is left.
__device__ __forceinline__ void v5_from(int *a, int n, int) {
  for (int off = 1; off < n; off *= 2) {
    if (threadIdx.x >= off)
      a[threadIdx.x] += a[threadIdx.x - off];
    __syncthreads();
  }
}
// Reads and writes separated, but by a barrier that not all threads reach.
__device__ __forceinline__ void v6(int *a, int n, int) {
  int tmp;
  for (int off = 1; off < n; off *= 2) {
    if (threadIdx.x > off) {
      tmp = a[threadIdx.x - off];
      __syncthreads();
      a[threadIdx.x] += tmp;
    }
    __syncthreads();
  }
}
__device__ __forceinline__ void v7(int *a, int n, int) {
  int tmp = 0;
  for (int off = 1; off < n; off *= 2) {
    if (threadIdx.x >= off)
      tmp = a[threadIdx.x - off];
    __syncthreads();
    if (threadIdx.x >= off)
      a[threadIdx.x] += tmp;
    __syncthreads();
  }
}
// One barrier a step: the upper half of each group of 2 * off adds the last sum of the lower half.
__device__ __forceinline__ void one_barrier(int *a, int n, int) {
  int tid = threadIdx.x;
  for (int off = 1; off < n; off *= 2) {
    if (tid >= off) {
      int val = tid % (2 * off);
      if (val >= off)
        a[tid] += a[tid - val + off - 1];
    }
    __syncthreads();
  }
}
// The same idea by the bits of the thread's number (the term with the two shifts is always 0, as on the slide).
__device__ __forceinline__ void one_barrier_bits(int *a, int n, int) {
  int tid = threadIdx.x, rest = tid, step_bit = 0;
  if (tid < n) {
    for (int off = 1; off < n; off *= 2) {
      int bit = rest & 1;
      rest = rest >> 1;
      if (bit) {
        int step = tid / off;
        a[tid] += a[step * off + ((1 << step_bit) & (1 << (step_bit + 1))) - 1];
      }
      step_bit += 1;
      __syncthreads();
    }
  }
}
ON_BOTH(scan_v1, v1)
ON_BOTH(scan_v2, v2)
ON_BOTH(scan_v3, v3)
ON_BOTH(scan_v4, v4)
ON_BOTH(scan_v5, v5)
ON_BOTH(scan_v5_from, v5_from)
ON_SHARED(scan_v6, v6)
ON_BOTH(scan_v7, v7)
ON_BOTH(scan_one_barrier, one_barrier)
ON_BOTH(scan_one_barrier_bits, one_barrier_bits)

// ---- host ----

static std::mt19937 random_numbers(1);
static std::vector<int> some_numbers(int n) {
  std::vector<int> numbers(n);
  for (int &number : numbers)
    number = 1 + random_numbers() % 9;
  return numbers;
}

template <typename Kernel> static void vectors(const char *variant, Kernel kernel) {
  const int shapes[][2] = {{1, 32}, {1, 64}, {1, 1024}, {64, 64}, {132, 1024}};
  for (auto &shape : shapes) {
    int n = shape[0] * shape[1];
    Words vector(n + 1), errors(1);
    measure("syncthreads_vector", variant, shape[0], shape[1], 500, [&] {
      vector.fill(-1), errors.fill(0);
      kernel<<<shape[0], shape[1]>>>(vector.as_unsigned(), n, errors);
      finish("syncthreads_vector");
      return judge(0, errors.get(0), 0);
    });
  }
}

static std::vector<int> convolved(const std::vector<int> &input) {
  const int weights[FILTER] = {3, 4, 5, 4, 3};
  std::vector<int> output(input.size());
  for (int i = 0; i < (int)input.size(); i++)
    for (int k = 0; k < FILTER; k++) {
      int at = i + k - FILTER / 2;
      if (at >= 0 && at < (int)input.size())
        output[i] += weights[k] * input[at];
    }
  return output;
}

template <typename Staged, typename InPlace>
static void convolutions(const char *variant, Staged staged, InPlace in_place) {
  for (int n : {8, 32, 64, 256, 1024}) {
    std::vector<int> numbers = some_numbers(n), want = convolved(numbers);
    Words input(n), output(n);
    measure("convolution", variant, 1, n, 500, [&] {
      input.set(numbers), output.fill(0);
      staged<<<1, n>>>(input, output, n);
      finish("convolution");
      return judge_array(0, output.get(), want);
    });
    measure("convolution_in_place", variant, 1, n, 500, [&] {
      input.set(numbers);
      in_place<<<1, n>>>(input, n);
      finish("convolution_in_place");
      return judge_array(0, input.get(), want);
    });
  }
}

template <typename Kernel> static void maxima(const char *variant, Kernel kernel) {
  const int shapes[][2] = {{1, 32}, {1, 64}, {1, 1024}, {8, 128}, {132, 128}};
  for (auto &shape : shapes) {
    int n = shape[0] * shape[1];
    std::vector<int> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 1); // the last thread has the largest
    Words a(n), most(1), reported(1);
    a.set(numbers);
    measure("maximum", variant, shape[0], shape[1], 500, [&] {
      most.fill(0), reported.fill(0);
      kernel<<<shape[0], shape[1]>>>(a, most, reported);
      finish("maximum");
      return judge(0, reported.get(0), n);
    });
  }
}

template <typename Kernel> static void reduction(const char *program, const char *variant, Kernel kernel) {
  for (int n : {8, 64, 100, 128, 1024}) {
    std::vector<int> numbers = some_numbers(n);
    int want = std::accumulate(numbers.begin(), numbers.end(), 0);
    numbers.resize(2048);
    Words data(2048);
    measure(program, variant + std::string(" n=") + std::to_string(n), 1, n / 2, 300, [&] {
      data.set(numbers);
      kernel<<<1, n / 2>>>(data, n, 0);
      finish(program);
      return judge(0, data.get(0), want);
    });
  }
}

template <typename Kernel> static void concatenation(const char *program, Kernel kernel) {
  for (int n : {8, 64, 1024}) {
    std::vector<int> letters = some_numbers(n);
    unsigned want = 0;
    for (int letter : letters)
      want = want * 31 + letter;
    letters.resize(2048, 0);
    std::fill(letters.begin() + 1024, letters.end(), 31);
    Words data(2048);
    measure(program, "shared n=" + std::to_string(n), 1, n / 2, 300, [&] {
      data.set(letters);
      kernel<<<1, n / 2>>>(data, n, 0);
      finish(program);
      return judge(0, data.get(0), (int)want);
    });
  }
}

template <typename Kernel> static void scan(const char *program, const char *variant, Kernel kernel) {
  for (int n : {8, 32, 64, 256, 1024}) {
    std::vector<int> numbers = some_numbers(n), want(n);
    std::partial_sum(numbers.begin(), numbers.end(), want.begin());
    numbers.resize(2048);
    Words data(2048);
    measure(program, variant, 1, n, 500, [&] {
      data.set(numbers);
      kernel<<<1, n>>>(data, n, 2000);
      finish(program);
      std::vector<int> got = data.get();
      int gave_up = got[2047];
      got.resize(n);
      return judge_array(gave_up, got, want);
    });
  }
}

#define REDUCTION(name) reduction(#name, "shared", name##_shared), reduction(#name, "global", name##_global)
#define SCAN(name) scan(#name, "shared", name##_shared), scan(#name, "global", name##_global)

int main() {
  begin();
  case_seconds = 0.1;
  vectors("barrier", syncthreads_vector);
  vectors("no-barrier", syncthreads_vector_no_barrier);
  convolutions("barrier", convolution, convolution_in_place);
  convolutions("no-barrier", convolution_no_barrier, convolution_in_place_no_barrier);
  maxima("barrier", maximum);
  maxima("no-barrier", maximum_no_barrier);
  REDUCTION(reduce_half);
  REDUCTION(reduce_half_no_barrier);
  REDUCTION(reduce_mirror);
  REDUCTION(reduce_adjacent);
  REDUCTION(reduce_adjacent_separated);
  reduction("reduce_atomic", "shared", reduce_atomic);
  concatenation("concatenate_half", concatenate_half_shared);
  concatenation("concatenate_adjacent", concatenate_adjacent_shared);
  SCAN(scan_v1);
  SCAN(scan_v2);
  SCAN(scan_v3);
  SCAN(scan_v4);
  SCAN(scan_v5);
  SCAN(scan_v5_from);
  SCAN(scan_v7);
  SCAN(scan_one_barrier);
  SCAN(scan_one_barrier_bits);
  scan("scan_v6", "shared", scan_v6_shared); // last, since only its machine code says that it doesn't hang
  return 0;
}
