// What atomic operations of 128 bits take beside those of 32 and 64 bits, in shared and in global memory.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_wide mem_wide.cu
// Run:   ./mem_wide > mem_wide.csv
// Variants: `shared OP.BITS` and `OP.BITS`, as a chain of each lane; its place: values side by side, one value for all, or values 128 bytes
// apart. n: lanes. `try`: a CAS that all threads of all blocks try on one value, or on values of their own, 128 bytes apart. cycles: of an
// access of a warp.
#include "mem.cuh"

enum { TIMES = 64 };
enum Operation { EXCH_32, CAS_32, EXCH_64, CAS_64, EXCH_128, CAS_128, OPERATIONS };
static const char *const names[] = {"exch.32", "cas.32", "exch.64", "cas.64", "exch.128", "cas.128"};
static const int sizes[] = {4, 4, 8, 8, 16, 16};

#define WIDE(SPACE, AT) \
  if (OP == EXCH_32) \
    asm volatile("atom." SPACE ".exch.b32 %0, [%1], 0;" : "=r"(low) : AT(at) : "memory"); \
  if (OP == CAS_32) \
    asm volatile("atom." SPACE ".cas.b32 %0, [%1], 7, 7;" : "=r"(low) : AT(at) : "memory"); \
  if (OP == EXCH_64) \
    asm volatile("{ .reg .b64 d; atom." SPACE ".exch.b64 d, [%1], 0; cvt.u32.u64 %0, d; }" : "=r"(low) : AT(at) : "memory"); \
  if (OP == CAS_64) \
    asm volatile("{ .reg .b64 d; atom." SPACE ".cas.b64 d, [%1], 7, 7; cvt.u32.u64 %0, d; }" \
                 : "=r"(low) : AT(at) : "memory"); \
  if (OP == EXCH_128) \
    asm volatile("{ .reg .b128 d, b; .reg .b64 l, h; mov.b128 b, {%2, %2}; atom." SPACE ".exch.b128 d, [%1], b;" \
                 " mov.b128 {l, h}, d; cvt.u32.u64 %0, l; }" : "=r"(low) : AT(at), "l"(0ull) : "memory"); \
  if (OP == CAS_128) \
    asm volatile("{ .reg .b128 d, b; .reg .b64 l, h; mov.b128 b, {%2, %2}; atom." SPACE ".cas.b128 d, [%1], b, b;" \
                 " mov.b128 {l, h}, d; cvt.u32.u64 %0, l; }" : "=r"(low) : AT(at), "l"(7ull) : "memory");

template <int OP> static __device__ __forceinline__ unsigned on_shared(unsigned at) {
  unsigned low = 0;
  WIDE("shared", "r")
  return low;
}

template <int OP> static __device__ __forceinline__ unsigned on_global(char *at) {
  unsigned low = 0;
  WIDE("global", "l")
  return low;
}

// Each warp has 1 KiB of its own; what is read is 0.
template <int OP> __global__ void chains(int apart, unsigned lanes, long long *took) {
  __shared__ __align__(128) char shared[32 * 1024];
  for (unsigned i = threadIdx.x; i < sizeof shared / 4; i += blockDim.x)
    ((unsigned *)shared)[i] = 0;
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, value = 0;
  unsigned at = (unsigned)__cvta_generic_to_shared(shared + warp * 1024) + lane * apart % 1024;
  __syncthreads();
  if (lane >= lanes)
    return;
  for (int i = 0; i < 4; i++)
    value = on_shared<OP>(at + value);
  long long start = now();
#pragma unroll 16
  for (int i = 0; i < TIMES; i++)
    value = on_shared<OP>(at + value);
  long long end = now_with(value);
  if (lane == 0)
    took[warp] = end - start;
}

template <int OP> __global__ void far_chains(char *words, int apart, unsigned lanes, long long *took) {
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, value = 0;
  char *at = words + (blockIdx.x * blockDim.x / 32 + warp) * (apart ? 4096 : 0) + lane * apart;
  if (lane >= lanes)
    return;
  for (int i = 0; i < 4; i++)
    value = on_global<OP>(at + value);
  long long start = now();
#pragma unroll 16
  for (int i = 0; i < TIMES; i++)
    value = on_global<OP>(at + value);
  long long end = now_with(value);
  if (lane == 0)
    took[blockIdx.x * blockDim.x / 32 + warp] = end - start;
}

template <int OP> static void measure(char *words) {
  std::string name = names[OP];
  struct { const char *how; int apart; } places[] = {{"side by side", sizes[OP]}, {"one value", 0}, {"128 bytes apart", 128}};
  for (auto place : places)
    for (int warps : {1, 4, 16})
      for (unsigned lanes : {1u, 2u, 4u, 8u, 16u, 32u}) {
        Buffer<long long> took(warps);
        if (place.apart * lanes <= 1024) {
          chains<OP><<<1, 32 * warps>>>(place.apart, lanes, took.data);
          finish("chains");
          row("wide", "shared " + name + "; " + place.how, 1, 32 * warps, lanes, TIMES, as_doubles(took.get()));
        }
        far_chains<OP><<<1, 32 * warps>>>(words, place.apart, lanes, took.data);
        finish("far_chains");
        row("wide", name + "; " + place.how, 1, 32 * warps, lanes, TIMES, as_doubles(took.get()));
      }
  for (int apart : {0, 128})
    for (int blocks : {4, 32, 132}) {
      Buffer<long long> took(blocks);
      far_chains<OP><<<blocks, 32>>>(words, apart, 1, took.data);
      finish("far_chains");
      row("wide", name + (apart ? "; try; values of their own" : "; try; one value"), blocks, 32, 1, TIMES, as_doubles(took.get()));
    }
}

int main() {
  mem_begin();
  Buffer<char> words(16 << 20);
  words.clear();
  measure<EXCH_32>(words.data);
  measure<CAS_32>(words.data);
  measure<EXCH_64>(words.data);
  measure<CAS_64>(words.data);
  measure<EXCH_128>(words.data);
  measure<CAS_128>(words.data);
  return 0;
}
