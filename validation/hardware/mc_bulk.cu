// Copies in bulk (cp.async.bulk) between global and shared memory: what one takes by its size, several at once, by one SM and by all; reductions in
// bulk, stores to shared memory that complete bytes (st.async), and what issuing them and expecting bytes costs.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mc_bulk mc_bulk.cu; -cubin, -ptx for the files beside it
//
// A row is a kernel with one warp in each of `blocks` blocks, one on an SM. Its first lane does one round to warm up, then `n` by the clock. Output: CSV rows,
// program,kernel,blocks,bytes,n,mean,longest: cycles of a block in the last of three launches. All loops are bounded.
#include <cstdint>

#include "hardware.cuh"

enum { BUFFER = 32 * 1024, TRIES = 1 << 16, COUNTS = 1 << 19 };

static __device__ __forceinline__ unsigned shared_address(const void *at) { return (unsigned)__cvta_generic_to_shared(at); }
static __device__ __forceinline__ unsigned clock_now() {
  unsigned t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}
static __device__ __forceinline__ void prepare(unsigned bar, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}
static __device__ __forceinline__ void expect(unsigned bar, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
static __device__ __forceinline__ void expect_only(unsigned bar, unsigned bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
static __device__ __forceinline__ unsigned wait(unsigned bar, unsigned parity) {
  unsigned done = 0;
  for (unsigned tries = 0; !done && tries < TRIES; tries++)
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(bar), "r"(parity) : "memory");
  return done;
}
static __device__ __forceinline__ void load(unsigned to, const unsigned *from, unsigned bytes, unsigned bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes), "r"(bar) : "memory");
}
static __device__ __forceinline__ void store(unsigned *to, unsigned from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes) : "memory");
}
static __device__ __forceinline__ void add(unsigned *to, unsigned from, unsigned bytes) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes) : "memory");
}
static __device__ __forceinline__ void add_wide(unsigned *to, unsigned from, unsigned bytes) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes) : "memory");
}
static __device__ __forceinline__ void put(unsigned to, unsigned value, unsigned bar) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(to), "r"(value), "r"(bar) : "memory");
}
static __device__ __forceinline__ void prefetch(const unsigned *from, unsigned bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
}
#define COMMIT asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#define WAIT_GROUPS asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#define WAIT_READ asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#define FENCE asm volatile("fence.proxy.async.shared::cta;" ::: "memory");

#define REP4(...) __VA_ARGS__ __VA_ARGS__ __VA_ARGS__ __VA_ARGS__
#define REP8(...) REP4(__VA_ARGS__ __VA_ARGS__)

typedef void Kernel(unsigned *took, unsigned n, unsigned bytes, unsigned *words);
struct Row {
  const char *name;
  Kernel *kernel;
  std::vector<int> blocks, bytes, rounds;
};
static std::vector<Row> rows;
struct Registered {
  Registered(const char *name, Kernel *kernel, std::vector<int> blocks, std::vector<int> bytes, std::vector<int> rounds) {
    rows.push_back({name, kernel, blocks, bytes, rounds});
  }
};

// `round` once, then n times by the clock: `to` and `from` are in shared and global memory, `bar` has `count` arrivals, `bad` counts waits in vain.
#define BENCH(...) BENCH_AS(, __VA_ARGS__)
// The same as a cluster of one block: without, an H200 takes the instruction for an illegal one.
#define BENCH_CLUSTER(...) BENCH_AS(__cluster_dims__(1), __VA_ARGS__)
#define BENCH_AS(how, name, blocks, sizes, rounds, count, ...)                                                           \
  extern "C" __global__ void how name(unsigned *took, unsigned n, unsigned bytes, unsigned *words);                          \
  static Registered register_##name(#name, name, blocks, sizes, rounds);                                                 \
  extern "C" __global__ void how __launch_bounds__(32) name(unsigned *took, unsigned n, unsigned bytes, unsigned *words) {   \
    __shared__ alignas(128) unsigned tile[BUFFER / 4];                                                                   \
    __shared__ unsigned long long bars[8];                                                                               \
    unsigned to = shared_address(tile), bar = shared_address(bars), phase = 0, bad = 0, start = 0;                       \
    [[maybe_unused]] unsigned *from = words + blockIdx.x * (BUFFER / 4);                                                 \
    for (unsigned i = threadIdx.x; i < BUFFER / 4; i += 32)                                                              \
      tile[i] = 0;                                                                                                       \
    if (threadIdx.x == 0)                                                                                                \
      for (unsigned i = 0; i < 8; i++)                                                                                   \
        prepare(bar + 8 * i, count);                                                                                     \
    FENCE                                                                                                                \
    __syncthreads();                                                                                                     \
    if (threadIdx.x)                                                                                                     \
      return;                                                                                                            \
    _Pragma("unroll 1") for (unsigned i = 0; i <= n; i++) {                                                              \
      if (i == 1)                                                                                                        \
        start = clock_now();                                                                                             \
      __VA_ARGS__                                                                                                        \
      phase ^= 1;                                                                                                        \
    }                                                                                                                    \
    unsigned t = clock_now() - start;                                                                                    \
    atomicMax(took, t);                                                                                                  \
    atomicAdd(took + 1, t);                                                                                              \
    if (bad)                                                                                                             \
      atomicAdd(took + 2, bad);                                                                                          \
  }

#define LIST(...) std::vector<int>({__VA_ARGS__})
#define BOTH LIST(1, 132)
#define SIZES LIST(16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
#define FEW LIST(16, 128, 1024, 4096)
#define LOAD(i) expect(bar + 8 * i, bytes); load(to + i * bytes, from + i * (bytes / 4), bytes, bar + 8 * i);
#define AWAIT(i) bad += !wait(bar + 8 * i, phase);

// ---- global to shared memory ----
BENCH(load_one, BOTH, SIZES, LIST(16), 1, LOAD(0) AWAIT(0))
BENCH(load_two, BOTH, FEW, LIST(16), 1, LOAD(0) LOAD(1) AWAIT(0) AWAIT(1))
BENCH(load_four, BOTH, LIST(16, 128, 1024, 4096, 8192), LIST(16), 1, LOAD(0) LOAD(1) LOAD(2) LOAD(3) AWAIT(0) AWAIT(1) AWAIT(2) AWAIT(3))
BENCH(load_eight, BOTH, FEW, LIST(16), 1, LOAD(0) LOAD(1) LOAD(2) LOAD(3) LOAD(4) LOAD(5) LOAD(6) LOAD(7)
      AWAIT(0) AWAIT(1) AWAIT(2) AWAIT(3) AWAIT(4) AWAIT(5) AWAIT(6) AWAIT(7))
// A ring of four: one is waited for, and comes again, while three are under way.
BENCH(load_ring, LIST(1, 8, 132), LIST(128, 1024, 8192), LIST(64), 1,
      if (i == 0) { LOAD(0) LOAD(1) LOAD(2) }
      unsigned now = i % 4, next = (i + 3) % 4;
      expect(bar + 8 * next, bytes); load(to + next * bytes, from + next * (bytes / 4), bytes, bar + 8 * next);
      bad += !wait(bar + 8 * now, i / 4 % 2);
      for (unsigned k = 1; i == n && k < 4; k++) bad += !wait(bar + 8 * ((i + k) % 4), (i + k) / 4 % 2);)
// ---- to shared memory from registers ----
BENCH_CLUSTER(put_one, LIST(1), LIST(4), LIST(16), 1, expect(bar, 4); put(to, i, bar); AWAIT(0))
// ---- shared to global memory ----
BENCH(store_one, BOTH, SIZES, LIST(16), 1, store(from, to, bytes); COMMIT WAIT_GROUPS)
BENCH(store_read, BOTH, SIZES, LIST(16), 1, store(from, to, bytes); COMMIT WAIT_READ)
BENCH(store_four, BOTH, LIST(16, 128, 1024, 8192), LIST(16), 1, for (unsigned k = 0; k < 4; k++) store(from + k * (bytes / 4), to + k * bytes, bytes); COMMIT WAIT_GROUPS)
BENCH(add_one, BOTH, LIST(16, 128, 1024, 4096, 16384), LIST(16), 1, add(from, to, bytes); COMMIT WAIT_GROUPS)
BENCH(add_wide_one, LIST(1), LIST(16, 128, 1024, 4096, 16384), LIST(16), 1, add_wide(from, to, bytes); COMMIT WAIT_GROUPS)
// ---- what it takes to issue them ----
BENCH(issue_load, LIST(1), LIST(16, 1024), LIST(4), 1, expect(bar, 8 * bytes); REP8(load(to, from, bytes, bar);) unsigned e = clock_now(); AWAIT(0) start += clock_now() - e;)
BENCH(issue_store, LIST(1), LIST(16, 1024), LIST(4), 1, REP8(store(from, to, bytes);) COMMIT unsigned e = clock_now(); WAIT_GROUPS start += clock_now() - e;)
BENCH(issue_prefetch, LIST(1), LIST(16, 1024), LIST(16), 1, REP8(prefetch(from, bytes);))
BENCH(wait_nothing, LIST(1), LIST(16), LIST(16), 1, REP8(COMMIT WAIT_GROUPS))
BENCH(read_nothing, LIST(1), LIST(16), LIST(16), 1, REP8(COMMIT WAIT_READ))
BENCH(expect_arrive, LIST(1), LIST(16), LIST(16), COUNTS, REP8(expect(bar, bytes);))
BENCH(expect_bytes, LIST(1), LIST(16), LIST(16), COUNTS, REP8(expect_only(bar, bytes);))
BENCH(fence_proxy, LIST(1), LIST(16), LIST(16), 1, REP8(FENCE))

int main(int argc, char **argv) {
  cudaDeviceProp properties;
  check_cuda(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  int clock = 0;
  cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0);
  printf("# %s (sm_%d%d), largest SM clock %d MHz, CUDA %d\nprogram,kernel,blocks,bytes,n,mean,longest\n", properties.name, properties.major,
         properties.minor, clock / 1000, CUDART_VERSION);
  Words took(4), words(132 * BUFFER / 4);
  words.fill(0);
  for (const Row &row : rows)
    for (int blocks : row.blocks)
      for (int bytes : row.bytes)
        for (int n : row.rounds) {
          for (int launch = 0; launch < 3; launch++) {
            took.fill(0);
            row.kernel<<<blocks, 32>>>(took.as_unsigned(), n, bytes, words.as_unsigned());
            finish(row.name);
          }
          if (took.get(2))
            printf("# %s of %d bytes: %u waits in vain\n", row.name, bytes, (unsigned)took.get(2));
          printf("bulk,%s,%d,%d,%d,%.2f,%u\n", row.name, blocks, bytes, n, (unsigned)took.get(1) / (double)blocks, (unsigned)took.get(0));
        }
  return argc > 99;
}
