// Barriers in shared memory (mbarrier) and copies into it (cp.async) by one block, and atomic operations on random words of a table there.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mc_mbarrier mc_mbarrier.cu; -cubin, -ptx for the files beside it
#include "mc.cuh"

static __device__ __forceinline__ unsigned shared_address(const void *at) { return (unsigned)__cvta_generic_to_shared(at); }
static __device__ __forceinline__ void prepare(unsigned bar, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}
static __device__ __forceinline__ unsigned arrive(unsigned bar) {
  unsigned long long state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(bar) : "memory");
  return (unsigned)state;
}
static __device__ __forceinline__ void arrive_only(unsigned bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
static __device__ __forceinline__ unsigned test(unsigned bar, unsigned parity) {
  unsigned done;
  asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(bar), "r"(parity) : "memory");
  return done;
}
static __device__ __forceinline__ unsigned try_wait(unsigned bar, unsigned parity) {
  unsigned done;
  asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(bar), "r"(parity) : "memory");
  return done;
}

#define FEW_WARPS {1, 4}
// Two barriers: `bar` of so many arrivals, the other one 8 bytes behind it.
#define BAR(name, warps, rounds, count, ...)                                                                          \
  BENCH(name, warps, rounds) {                                                                                        \
    __shared__ unsigned long long bars[4];                                                                            \
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, x = lane & zero, bar = shared_address(bars), phase = 0; \
    if (threadIdx.x == 0)                                                                                             \
      prepare(bar, count), prepare(bar + 8, count);                                                                   \
    __syncthreads();                                                                                                  \
    unsigned start = clock_now();                                                                                     \
    _Pragma("unroll 1") for (unsigned i = 0; i < n; i++) { __VA_ARGS__ }                                                    \
    end_row(took, start, x + phase + warp);                                                                           \
  }

// ---- arrivals that complete nothing, of so many lanes ----
#define ARRIVALS(lanes)                                                                                               \
  BAR(arrive_##lanes, WARPS_EACH, {16}, 1u << 20 >> 1, if (lane < lanes) { REP4(x += arrive(bar + (x & zero)) & zero;) })                        \
  BAR(arrive_only_##lanes, WARPS_EACH, {16}, 1u << 20 >> 1, if (lane < lanes) { REP4(arrive_only(bar);) })
ARRIVALS(1)
ARRIVALS(2)
ARRIVALS(8)
ARRIVALS(32)

// ---- looks: at a phase that is complete, and at one that isn't ----
#define LOOKS(lanes)                                                                                                  \
  BAR(test_true_##lanes, WARPS_EACH, {16}, 1, if (lane < lanes) { REP4(x += test(bar + (x & zero), 1) & zero;) })                          \
  BAR(test_false_##lanes, WARPS_ALL, {16}, 1, if (lane < lanes) { REP4(x += test(bar + (x & zero), 0);) })                                 \
  BAR(try_true_##lanes, WARPS_ALL, {16}, 1, if (lane < lanes) { REP4(x += try_wait(bar + (x & zero), 1) & zero;) })
LOOKS(1)
LOOKS(32)
BAR(try_false_1, FEW_WARPS, {4}, 1, if (lane < 1) x += try_wait(bar + (x & zero), 0);)
BAR(try_false_32, FEW_WARPS, {4}, 1, x += try_wait(bar + (x & zero), 0);)

// ---- rounds of the whole block ----
#define HALVES {2, 4, 8, 16, 32}
#define TAKE_TEST while (!test(bar, phase)) ; phase ^= 1;
#define TAKE_TRY while (!try_wait(bar, phase)) ; phase ^= 1;
BAR(round_test, WARPS_EACH, {64}, blockDim.x, arrive_only(bar); TAKE_TEST)
BAR(round_try, WARPS_EACH, {64}, blockDim.x, arrive_only(bar); TAKE_TRY)
BAR(round_elected_test, WARPS_EACH, {64}, blockDim.x / 32, __syncwarp(); if (lane == 0) arrive_only(bar); __syncwarp(); TAKE_TEST)
BAR(round_elected_try, WARPS_EACH, {64}, blockDim.x / 32, __syncwarp(); if (lane == 0) arrive_only(bar); __syncwarp(); TAKE_TRY)
// Who waits is one lane, or all.
BAR(round_one_waits, WARPS_EACH, {64}, blockDim.x, arrive_only(bar); if (lane == 0) { TAKE_TRY } __syncwarp();)

// ---- hand-offs: the first half of the warps and the second one by turns ----
#define HAND_OFF(name, arrival, wait, count)                                                                          \
  BAR(name, HALVES, {64}, count,                                                                                      \
      if (warp < blockDim.x / 64) { arrival(bar); while (!wait(bar + 8, phase)) ; }                                   \
      else { while (!wait(bar, phase)) ; arrival(bar + 8); } phase ^= 1;)
#define ALL_ARRIVE(bar) arrive_only(bar)
#define ONE_ARRIVES(bar) if (lane == 0) arrive_only(bar)
HAND_OFF(hand_test, ALL_ARRIVE, test, blockDim.x / 2)
HAND_OFF(hand_try, ALL_ARRIVE, try_wait, blockDim.x / 2)
HAND_OFF(hand_one_test, ONE_ARRIVES, test, blockDim.x / 64)
HAND_OFF(hand_one_try, ONE_ARRIVES, try_wait, blockDim.x / 64)

// ---- copies ----
#define COPY(bytes, how, to, from) asm volatile("cp.async." #how ".shared.global [%0], [%1], " #bytes ";" ::"r"(to), "l"(from) : "memory");
#define COPIES(name, warps, ...)                                                                                      \
  BENCH(name, warps, {64}) {                                                                                          \
    __shared__ alignas(16) unsigned tile[4 * 1024];                                                                   \
    __shared__ unsigned long long bars[1];                                                                            \
    unsigned bar = shared_address(bars), to = shared_address(tile) + 16 * threadIdx.x, phase = 0;                     \
    const unsigned *from = words + 4 * (threadIdx.x & 1023);                                                          \
    if (threadIdx.x == 0)                                                                                             \
      prepare(bar, blockDim.x);                                                                                       \
    __syncthreads();                                                                                                  \
    unsigned start = clock_now();                                                                                     \
    _Pragma("unroll 1") for (unsigned i = 0; i < n; i++) { __VA_ARGS__ }                                                    \
    end_row(took, start, phase + tile[threadIdx.x] + (unsigned)(from - words));                                       \
  }
#define COMMIT asm volatile("cp.async.commit_group;" ::: "memory");
#define WAIT(left) asm volatile("cp.async.wait_group " #left ";" ::: "memory");
COPIES(copy_4, WARPS_ALL, COPY(4, ca, to, from) COMMIT WAIT(0))
COPIES(copy_16, WARPS_ALL, COPY(16, cg, to, from) COMMIT WAIT(0))
COPIES(copy_16_ca, WARPS_ALL, COPY(16, ca, to, from) COMMIT WAIT(0))
COPIES(copy_4_ahead, WARPS_ALL, COPY(4, ca, to, from) COMMIT WAIT(1))
COPIES(copy_4_four, WARPS_ALL, COPY(4, ca, to, from) COPY(4, ca, to + 4, from + 1) COPY(4, ca, to + 8, from + 2) COPY(4, ca, to + 12, from + 3) COMMIT WAIT(0))
COPIES(copy_barrier, WARPS_ALL, COPY(4, ca, to, from) asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(bar) : "memory");
       while (!try_wait(bar, phase)) ; phase ^= 1;)
COPIES(copy_syncthreads, WARPS_ALL, COPY(4, ca, to, from) COMMIT WAIT(0) __syncthreads();)
// What takes the place of a copy without the instruction.
COPIES(load_store, WARPS_ALL, tile[threadIdx.x] = ((const volatile unsigned *)from)[0]; __syncthreads();)

// ---- additions to random words of a table, without and with results ----
#define TABLE(bins)                                                                                                   \
  BENCH(table_##bins, WARPS_EACH, {16}) {                                                                              \
    __shared__ unsigned table[bins];                                                                                  \
    for (unsigned i = threadIdx.x; i < bins; i += blockDim.x)                                                         \
      table[i] = 0;                                                                                                   \
    unsigned x = threadIdx.x * 0x9E3779B9u + 12345;                                                                   \
    __syncthreads();                                                                                                  \
    unsigned start = clock_now();                                                                                     \
    _Pragma("unroll 1") for (unsigned i = 0; i < n; i++) { REP4(x = x * 1664525u + 1013904223u; atomicAdd(&table[x >> 16 & (bins - 1)], 1u);) } \
    end_row(took, start, x);                                                                                          \
    words[threadIdx.x & 1023] = table[threadIdx.x & (bins - 1)] & zero;                                              \
  }                                                                                                                   \
  BENCH(table_used_##bins, WARPS_EACH, {16}) {                                                                         \
    __shared__ unsigned table[bins];                                                                                  \
    for (unsigned i = threadIdx.x; i < bins; i += blockDim.x)                                                         \
      table[i] = 0;                                                                                                   \
    unsigned x = threadIdx.x * 0x9E3779B9u + 12345;                                                                   \
    __syncthreads();                                                                                                  \
    unsigned start = clock_now();                                                                                     \
    _Pragma("unroll 1") for (unsigned i = 0; i < n; i++) { REP4(x = x * 1664525u + 1013904223u + (atomicAdd(&table[x >> 16 & (bins - 1)], 1u) & zero);) } \
    end_row(took, start, x);                                                                                          \
  }
TABLE(1)
TABLE(2)
TABLE(4)
TABLE(16)
TABLE(64)
TABLE(256)
TABLE(1024)
