// mem.cuh - what the mem_*.cu programs share: they measure the memory system of a real GPU for the parameters of lockstep's machines.
//
// Output: CSV rows on stdout, program,variant,blocks,threads,n,accesses,cycles,low,high. `cycles` are SM clock cycles of one access (of
// one round where the variant says so): the median over threads or repetitions; `low` and `high` the extremes. `n` is what the variant
// counts (bytes, lanes, stores, ...). All loops are bounded, and no thread waits for another one.
#pragma once
#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <numeric>
#include <random>

#include "hardware.cuh"

__device__ __forceinline__ long long now() {
  long long t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}
__device__ __forceinline__ unsigned sm_id() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

// Kinds of access. The value of each decides the address of the next, by adding 0.
enum Access { LOAD_L1, LOAD_L2, LOAD_VOLATILE, STORE, ATOM_ADD, RED_ADD, ATOM_EXCH, ATOM_CAS, ACCESSES };
static const char *const access_names[] = {"load",     "load.cg", "volatile",  "store",
                                           "atom.add", "red.add", "atom.exch", "atom.cas"};

template <int ACCESS> __device__ __forceinline__ unsigned touch(unsigned *at) {
  unsigned value = 0;
  if (ACCESS == LOAD_L1)
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  if (ACCESS == LOAD_L2)
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  if (ACCESS == LOAD_VOLATILE)
    asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  if (ACCESS == STORE)
    asm volatile("st.volatile.global.u32 [%0], %1;" ::"l"(at), "r"(0) : "memory");
  if (ACCESS == ATOM_ADD)
    asm volatile("atom.global.add.u32 %0, [%1], 0;" : "=r"(value) : "l"(at) : "memory");
  if (ACCESS == RED_ADD)
    asm volatile("red.global.add.u32 [%0], 0;" ::"l"(at) : "memory");
  if (ACCESS == ATOM_EXCH)
    asm volatile("atom.global.exch.b32 %0, [%1], 0;" : "=r"(value) : "l"(at) : "memory");
  if (ACCESS == ATOM_CAS)
    asm volatile("atom.global.cas.b32 %0, [%1], 7, 7;" : "=r"(value) : "l"(at) : "memory");
  return value;
}

// The time at which `value` has come: a store to shared memory needs it before the clock is read.
__device__ __forceinline__ long long now_with(unsigned value) {
  static __shared__ unsigned sink[32];
  asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(sink + threadIdx.x % 32)),
               "r"(value)
               : "memory");
  return now();
}

// ---- host ----

// Anything that a kernel writes for each thread or block.
template <typename T> struct Buffer {
  explicit Buffer(size_t count) : count(count) { check_cuda(cudaMalloc(&data, count * sizeof(T)), "cudaMalloc"); }
  ~Buffer() { cudaFree(data); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  void clear() { check_cuda(cudaMemset(data, 0, count * sizeof(T)), "cudaMemset"); }
  void set(const std::vector<T> &from) {
    check_cuda(cudaMemcpy(data, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  std::vector<T> get() const {
    std::vector<T> to(count);
    check_cuda(cudaMemcpy(to.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return to;
  }
  T *data;
  size_t count;
};

[[maybe_unused]] static void mem_begin() {
  cudaDeviceProp properties;
  check_cuda(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  int clock = 0, driver = 0;
  cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0);
  cudaDriverGetVersion(&driver);
  printf("# %s (sm_%d%d), %d SMs, largest SM clock %d MHz, CUDA %d, driver API %d\n", properties.name,
         properties.major, properties.minor, properties.multiProcessorCount, clock / 1000, CUDART_VERSION, driver);
  puts("program,variant,blocks,threads,n,accesses,cycles,low,high");
}

// A row of what `each` took for `accesses` accesses.
[[maybe_unused]] static void row(const char *program, const std::string &variant, int blocks, int threads, long n,
                                 long accesses, std::vector<double> each) {
  if (each.empty())
    return;
  std::string name = variant;
  std::replace(name.begin(), name.end(), ',', ';');
  std::sort(each.begin(), each.end());
  printf("%s,%s,%d,%d,%ld,%ld,%.2f,%.2f,%.2f\n", program, name.c_str(), blocks, threads, n, accesses,
         each[each.size() / 2] / accesses, each.front() / accesses, each.back() / accesses);
  fflush(stdout);
}

template <typename T> std::vector<double> as_doubles(const std::vector<T> &from) {
  return std::vector<double>(from.begin(), from.end());
}
