// The SM's side: shared accesses and atomics by conflict, warp operations, block barriers by warps, constant and special registers,
// the L1 by what shared memory leaves, the period of a poll, and sleeping.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_sm mem_sm.cu
// Run:   ./mem_sm > mem_sm.csv
#include "mem.cuh"

enum { TIMES = 256 };

// ---- operations, each dependent on the one before ----

enum Operation {
  LDS,
  STS,
  ATOMS_ADD,
  ATOMS_EXCH,
  ATOMS_CAS,
  ATOMS_MAX,
  REDS_ADD,
  SHFL,
  BALLOT,
  ANY,
  MATCH_ANY,
  MATCH_ALL,
  REDUX_ADD,
  REDUX_OR,
  SYNCWARP,
  S2R,
  CONSTANT,
  OPERATIONS
};
static const char *const operation_names[] = {
    "ld.shared",       "st.shared",      "atom.shared.add",   "atom.shared.exch", "atom.shared.cas",
    "atom.shared.max", "red.shared.add", "add and shfl.bfly", "vote.ballot",      "vote.any",
    "match.any",       "match.all",      "redux.add",         "redux.or",         "bar.warp.sync",
    "clock",           "ld.const"};
__constant__ unsigned constants[1024];

template <int OPERATION> __device__ __forceinline__ unsigned operate(unsigned value, unsigned at, unsigned zero) {
  unsigned result = value;
  switch (OPERATION) {
  case LDS: asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(result) : "r"(at + value) : "memory"); break;
  case STS: asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(at + value), "r"(0) : "memory"); break;
  case ATOMS_ADD: asm volatile("atom.shared.add.u32 %0, [%1], 0;" : "=r"(result) : "r"(at + value) : "memory"); break;
  case ATOMS_EXCH:
    asm volatile("atom.shared.exch.b32 %0, [%1], 0;" : "=r"(result) : "r"(at + value) : "memory");
    break;
  case ATOMS_CAS:
    asm volatile("atom.shared.cas.b32 %0, [%1], 7, 7;" : "=r"(result) : "r"(at + value) : "memory");
    break;
  case ATOMS_MAX: asm volatile("atom.shared.max.u32 %0, [%1], 0;" : "=r"(result) : "r"(at + value) : "memory"); break;
  case REDS_ADD: asm volatile("red.shared.add.u32 [%0], 0;" ::"r"(at + value) : "memory"); break;
  case SHFL: asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 31, -1;" : "=r"(result) : "r"(value + zero)); break;
  case BALLOT:
    asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, -1;}" : "=r"(result) : "r"(value));
    break;
  case ANY:
    asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.any.pred p, p, -1; selp.u32 %0, 1, 0, p;}"
                 : "=r"(result)
                 : "r"(value));
    break;
  case MATCH_ANY: asm volatile("match.any.sync.b32 %0, %1, -1;" : "=r"(result) : "r"(value)); break;
  case MATCH_ALL: asm volatile("match.all.sync.b32 %0, %1, -1;" : "=r"(result) : "r"(value)); break;
  case REDUX_ADD: asm volatile("redux.sync.add.u32 %0, %1, -1;" : "=r"(result) : "r"(value)); break;
  case REDUX_OR: asm volatile("redux.sync.or.b32 %0, %1, -1;" : "=r"(result) : "r"(value)); break;
  case SYNCWARP: asm volatile("bar.warp.sync -1;" ::: "memory"); break;
  case S2R:
    asm volatile("{.reg .u32 t; mov.u32 t, %%clock; and.b32 t, t, %2; add.u32 %0, %1, t;}"
                 : "=r"(result)
                 : "r"(value), "r"(zero));
    break;
  case CONSTANT: result = constants[value & 1023]; break;
  }
  return result;
}

// All warps of a block at once. Lanes use words `stride` apart, modulo `words`, of a part of their own (32 warps at most).
template <int OPERATION>
__global__ void operations(int stride, int words, int lanes, unsigned zero, long long *took) {
  static __shared__ unsigned shared[12 * 1024 - 64];
  for (unsigned i = threadIdx.x; i < sizeof shared / 4; i += blockDim.x)
    shared[i] = 0;
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, value = lane & zero; // not known to be uniform
  unsigned at =
      (unsigned)__cvta_generic_to_shared(shared + (lane * stride % words + warp * 32) % (sizeof shared / 4));
  __syncthreads();
  if (lane >= lanes)
    return;
  for (int i = 0; i < 16; i++)
    value = operate<OPERATION>(value, at, zero) & (OPERATION == BALLOT ? 0 : ~0u);
  long long start = now();
#pragma unroll 16
  for (int i = 0; i < TIMES; i++)
    value = operate<OPERATION>(value, at, zero);
  long long end = now_with(value);
  if (lane == 0)
    took[warp] = end - start;
}

template <int OPERATION> static void operation(const char *how, int stride, int words, int lanes = 32) {
  for (int warps : {1, 2, 4, 8, 16, 32}) {
    Buffer<long long> took(warps);
    operations<OPERATION><<<1, 32 * warps>>>(stride, words, lanes, 0, took.data);
    finish("operations");
    row("sm", std::string(operation_names[OPERATION]) + how, 1, 32 * warps, lanes, TIMES, as_doubles(took.get()));
  }
}

template <int OPERATION> static void on_shared() {
  operation<OPERATION>(", no conflict", 1, 32);
  operation<OPERATION>(", one word", 0, 32);
  operation<OPERATION>(", 2 words of a bank", 32, 64);
  operation<OPERATION>(", 8 words of a bank", 32, 256);
  operation<OPERATION>(", 32 words of a bank", 32, 1024);
  for (int lanes : {1, 2, 4, 8, 16})
    operation<OPERATION>(", one word, some lanes", 0, 32, lanes);
  for (int lanes : {1, 8})
    operation<OPERATION>(", no conflict, some lanes", 1, 32, lanes);
}

// ---- block barriers ----

// A round: a barrier of all warps. STORE: each warp stores to shared memory before.
template <bool STORE> __global__ void barriers(long long *took) {
  static __shared__ volatile unsigned shared[1024];
  for (int i = 0; i < 8; i++)
    __syncthreads();
  long long start = now();
#pragma unroll 4
  for (int i = 0; i < TIMES; i++) {
    if (STORE)
      shared[threadIdx.x] = i;
    __syncthreads();
  }
  long long end = now();
  if (threadIdx.x % 32 == 0)
    took[threadIdx.x / 32] = end - start;
}

template <bool STORE> static void barrier_rows(const char *variant) {
  for (int warps = 1; warps <= 32; warps = warps < 4 ? warps + 1 : warps * 2) {
    Buffer<long long> took(warps);
    barriers<STORE><<<1, 32 * warps>>>(took.data);
    finish("barriers");
    row("sm", variant, 1, 32 * warps, warps, TIMES, as_doubles(took.get()));
  }
}

// ---- the L1 ----

// Loads lines in a circle, so that a footprint beyond the L1 misses. `n` of its rows: bytes.
__global__ void circle(unsigned *words, int lines, long long *took) {
  extern __shared__ unsigned unused[];
  unsigned at = 0;
  for (int i = 0; i < lines; i++)
    at = touch<LOAD_L1>(words + at);
  long long start = now();
  for (int i = 0; i < 2 * lines; i++)
    at = touch<LOAD_L1>(words + at);
  *took = now_with(at) - start;
}

// Beside `shared` kilobytes of the block's shared memory.
static void l1_sizes() {
  for (int shared : {0, 7, 15, 31, 63, 99, 131, 163, 195, 226}) {
    check_cuda(cudaFuncSetAttribute(circle, cudaFuncAttributeMaxDynamicSharedMemorySize, shared * 1024),
               "shared memory");
    check_cuda(cudaFuncSetAttribute(circle, cudaFuncAttributePreferredSharedMemoryCarveout, (shared + 1) * 100 / 228),
               "carve-out");
    for (int kilobytes = 8; kilobytes <= 264; kilobytes += 8) {
      int lines = kilobytes * 8;
      std::vector<unsigned> host(lines * 32);
      for (int i = 0; i < lines; i++)
        host[i * 32] = (i + 1) % lines * 32;
      Buffer<unsigned> words(host.size());
      words.set(host);
      Buffer<long long> took(1);
      circle<<<1, 1, shared * 1024>>>(words.data, lines, took.data);
      finish("circle");
      row("sm", "load by footprint beside shared memory of " + std::to_string(shared) + " KB", 1, 1,
          kilobytes * 1024L, 2 * lines, as_doubles(took.get()));
    }
  }
}

// ---- polls and sleep ----

template <int ACCESS> __global__ void poll(unsigned *word, int times, long long *took) {
  for (int round = 0; round < 2; round++) {
    long long start = now();
    int left = times;
    while (touch<ACCESS>(word) == 0 && --left)
      ;
    took[threadIdx.x / 32] = now() - start;
  }
}

template <int ACCESS> static void polls(unsigned *words) {
  for (int threads : {1, 32, 1024}) {
    Buffer<long long> took((threads + 31) / 32);
    poll<ACCESS><<<1, threads>>>(words, TIMES, took.data);
    finish("poll");
    row("sm", std::string("poll of a global word by ") + access_names[ACCESS], 1, threads, 1, TIMES,
        as_doubles(took.get()));
  }
}

__global__ void poll_shared(int times, long long *took) {
  static __shared__ volatile int word;
  word = 0;
  __syncthreads();
  for (int round = 0; round < 2; round++) {
    long long start = now();
    int left = times;
    while (word == 0 && --left)
      ;
    took[threadIdx.x / 32] = now() - start;
  }
}

__global__ void sleeps(unsigned nanoseconds, int cycles_between, long long *took, long long *global) {
  for (int i = 0; i < 64; i++) {
    for (long long begun = now(); now() - begun < cycles_between;)
      ;
    long long from, to, start = now();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(from)::"memory");
    __nanosleep(nanoseconds);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(to)::"memory");
    took[i] = now() - start;
    global[i] = to - from;
  }
}

static void sleep_rows() {
  for (unsigned nanoseconds : {0u,   1u,   20u,  32u,   50u,   64u,   100u,  128u,  200u,   256u,   300u,
                               500u, 512u, 700u, 1000u, 1024u, 2000u, 2048u, 5000u, 10000u, 100000u})
    for (int between : {0, 777}) {
      Buffer<long long> took(64), global(64);
      sleeps<<<1, 1>>>(nanoseconds, between, took.data, global.data);
      finish("sleeps");
      std::string variant = "nanosleep, " + std::to_string(between) + " cycles between";
      row("sm", variant, 1, 1, nanoseconds, 1, as_doubles(took.get()));
      row("sm", variant + ", by the global timer in ns", 1, 1, nanoseconds, 1, as_doubles(global.get()));
    }
}

int main() {
  mem_begin();
  on_shared<LDS>();
  on_shared<STS>();
  on_shared<ATOMS_ADD>();
  on_shared<ATOMS_EXCH>();
  on_shared<ATOMS_CAS>();
  on_shared<ATOMS_MAX>();
  on_shared<REDS_ADD>();
  operation<SHFL>("", 1, 32);
  operation<BALLOT>("", 1, 32);
  operation<ANY>("", 1, 32);
  operation<MATCH_ANY>(", equal values", 1, 32);
  operation<MATCH_ALL>(", equal values", 1, 32);
  operation<REDUX_ADD>("", 1, 32);
  operation<REDUX_OR>("", 1, 32);
  operation<SYNCWARP>("", 1, 32);
  operation<S2R>("", 1, 32);
  operation<CONSTANT>("", 1, 32);
  barrier_rows<false>("barrier of all warps");
  barrier_rows<true>("store and barrier of all warps");
  l1_sizes();
  Buffer<unsigned> words(1024);
  words.clear();
  polls<LOAD_VOLATILE>(words.data);
  polls<ATOM_ADD>(words.data);
  polls<ATOM_CAS>(words.data);
  for (int threads : {1, 32, 1024}) {
    Buffer<long long> took((threads + 31) / 32);
    poll_shared<<<1, threads>>>(TIMES, took.data);
    finish("poll_shared");
    row("sm", "poll of a shared word", 1, threads, 1, TIMES, as_doubles(took.get()));
  }
  sleep_rows();
}
