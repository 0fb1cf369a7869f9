// An L2 of two halves: which lines and SMs belong to which, what a fence costs by the line accessed before it, and outcomes of litmus
// tests by the halves of the two threads and of the two words.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_halves mem_halves.cu
// Run:   ./mem_halves > mem_halves.csv
//
// Output: CSV rows kind,test,copies,threads,words,tries,a,b,c,d. Halves are 0 (that of SM 0) or 1.
//   line,sm SM,-,half of the SM,half of the line,line,load,atomic,load after the atomic,fence after a store,fence after a load: cycles,
//   the lowest of eight
//   litmus,TEST,copies,halves of A and B (T: both on one TPC, in that half),halves of x and y,tries,how often 00, 01, 10, 11
//   after,WHAT,-,SM,page,lines,quarter,median,three quarters: cycles; how many above 375
//   fences,WHAT,-,-,half of the line,repetitions,cycles: lowest and median of the first fence, lowest and median of the second; or of one
// An outcome is what the two loads gave, first thread first; of a store in place of a load whether the other thread's store to that word
// came last. copies: yes if both threads have loaded both words, past the L1, before they come together. All waiting loops are bounded.
#include "mem.cuh"

enum { LINE = 32, PAGE = 1024, PAGES = 4096, GROUPS = 16, ROUNDS = 64, LAUNCHES = 32, SPREAD = 512, SLOTS = 8 };
static const size_t shared_bytes = 200 * 1024; // so that a block has an SM of its own

__global__ void time_pages(unsigned target, unsigned *words, int pages, unsigned short *took) {
  if (sm_id() != target || threadIdx.x)
    return;
  for (int page = 0; page < pages; page++) {
    unsigned best = 65535;
    for (int i = 0; i < 3; i++) {
      long long start = now();
      long long end = now_with(touch<ATOM_ADD>(words + (size_t)page * PAGE));
      best = min(best, (unsigned)(end - start));
    }
    took[page] = (unsigned short)best;
  }
}

// A load, an atomic, a load after the atomic, a fence after a store, a fence after a load.
enum What { LOADS, ATOMICS, LOADS_BACK, STORE_FENCE, LOAD_FENCE, WHATS };

// For each of `count` lines, `stride` words apart: lowest of eight tries.
__global__ void time_lines(unsigned target, unsigned *words, int count, int stride, unsigned *took) {
  if (sm_id() != target || threadIdx.x)
    return;
  for (int line = 0; line < count; line++) {
    unsigned *at = words + (size_t)line * stride, best[WHATS] = {65535, 65535, 65535, 65535, 65535};
    for (int i = 0; i < 8; i++)
      for (int what = 0; what < WHATS; what++) {
        for (int k = 0; k < 2; k++)
          asm volatile("membar.sys;" ::: "memory");
        unsigned value = 0;
        if (what == STORE_FENCE)
          touch<STORE>(at);
        if (what == LOAD_FENCE)
          value = touch<LOAD_L2>(at);
        long long start = what == LOAD_FENCE ? now_with(value) : now();
        if (what == LOADS || what == LOADS_BACK)
          value = touch<LOAD_L2>(at);
        if (what == ATOMICS)
          value = touch<ATOM_ADD>(at);
        if (what == STORE_FENCE || what == LOAD_FENCE)
          asm volatile("membar.gl;" ::: "memory");
        long long end = what == STORE_FENCE || what == LOAD_FENCE ? now() : now_with(value);
        best[what] = min(best[what], (unsigned)(end - start));
      }
    for (int what = 0; what < WHATS; what++)
      took[line * WHATS + what] = best[what];
  }
}

// Loads of lines that nobody has accessed since a memset; what a load takes some time after a store of its own SM to the same line,
// which it had loaded or not (an atomic makes copies void).
enum After { MEMSET, LOADED_STORED, ATOMIC_STORED, AFTERS };
static const char *const after_names[] = {"load after a memset", "load; a store; a load", "atomic; a store; a load"};
__global__ void time_after(unsigned target, unsigned *words, int count, int what, unsigned *took) {
  if (sm_id() != target || threadIdx.x)
    return;
  for (int line = 0; line < count; line++) {
    unsigned *at = words + (size_t)line * 33 * LINE, value = 0;
    if (what == LOADED_STORED)
      value = touch<LOAD_L2>(at);
    if (what == ATOMIC_STORED)
      value = touch<ATOM_ADD>(at);
    now_with(value);
    if (what != MEMSET)
      touch<STORE>(at);
    for (int k = 0; k < 2 && what != MEMSET; k++)
      asm volatile("membar.sys;" ::: "memory");
    long long start = now();
    long long end = now_with(touch<LOAD_L2>(at));
    took[line] = (unsigned)(end - start);
  }
}

// Warp 0 stores to the line; then warp `first` executes a fence, then the other one.
__global__ void two_fences(unsigned *line, int first, unsigned *took) {
  int warp = threadIdx.x / 32;
  for (int repeat = 0; repeat < 8; repeat++) {
    for (int k = 0; k < 3; k++)
      asm volatile("membar.sys;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0)
      touch<STORE>(line);
    for (long long start = now(); now() - start < 1000;)
      ;
    for (int turn = 0; turn < 2; turn++) {
      __syncthreads();
      if (threadIdx.x % 32 == 0 && (warp == first) == (turn == 0)) {
        long long start = now();
        asm volatile("membar.gl;" ::: "memory");
        took[(turn * 8 + repeat)] = (unsigned)(now() - start);
        for (int k = 0; k < 2; k++)
          asm volatile("membar.gl;" ::: "memory"); /* its own store */
      }
    }
  }
}

// A load, and at once a fence of the block: 0 membar.cta, 1 fence.acq_rel.cta; 2, 3 the same behind a store.
__global__ void block_fence(unsigned *line, int what, unsigned *took) {
  for (int repeat = 0; repeat < 8; repeat++) {
    for (int k = 0; k < 3; k++)
      asm volatile("membar.sys;" ::: "memory");
    unsigned value = 0;
    if (what < 2)
      value = touch<LOAD_L2>(line);
    else
      touch<STORE>(line);
    long long start = now();
    if (what % 2)
      asm volatile("fence.acq_rel.cta;" ::: "memory");
    else
      asm volatile("membar.cta;" ::: "memory");
    long long end = now();
    took[repeat] = (unsigned)(end - start) + (value == 12345);
  }
}

enum Test { WR, WW, MP, SB, LB, W2, R, S, TESTS };
static const char *const test_names[] = {"WR", "WW", "MP", "SB", "LB", "2+2W", "R", "S"};
// One thread of each block: table[sm] is group * 2 + role or -1. words: of each try the offsets of x and y.
template <int A0, int A1> __device__ __forceinline__ void accesses(unsigned *p, unsigned *q, unsigned &r0, unsigned &r1) {
  if (A0 > 0)
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(A0) : "memory");
  if (A0 == 0)
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(r0) : "l"(p) : "memory");
  if (A1 > 0)
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(q), "r"(A1) : "memory");
  if (A1 == 0)
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(r1) : "l"(q) : "memory");
}

template <int TEST>
__global__ void litmus(const int *table, unsigned *meet, unsigned *pool, const unsigned *words, unsigned *results, int copies,
                       unsigned seed) {
  int place = table[sm_id()];
  if (place < 0 || threadIdx.x)
    return;
  int group = place / 2, role = place % 2;
  unsigned *at = meet + group * LINE, random = seed * 77777u + (unsigned)place * 31337u, keep = 0;
  for (int round = 0; round < ROUNDS; round++) {
    int attempt = group * ROUNDS + round;
    unsigned *x = pool + words[attempt * 2], *y = pool + words[attempt * 2 + 1], r0 = 3, r1 = 3;
    if (copies)
      keep += touch<LOAD_L2>(x) + touch<LOAD_L2>(y);
    random = random * 1664525u + 1013904223u;
    int wait = (int)((random >> 16) % SPREAD) + (keep == 12345);
    atomicAdd(at, 1u);
    for (int i = 0; i < 100000; i++)
      if (touch<LOAD_VOLATILE>(at) >= 2u * (unsigned)(round + 1))
        break;
    for (long long start = now(); now() - start < wait;)
      ;
    if (TEST == WR)
      role ? accesses<0, -1>(x, y, r0, r1) : accesses<1, -1>(x, y, r0, r1);
    if (TEST == WW)
      role ? accesses<2, -1>(x, y, r0, r1) : accesses<1, -1>(x, y, r0, r1);
    if (TEST == MP)
      role ? accesses<0, 0>(y, x, r0, r1) : accesses<1, 1>(x, y, r0, r1);
    if (TEST == SB)
      role ? accesses<1, 0>(y, x, r0, r1) : accesses<1, 0>(x, y, r0, r1);
    if (TEST == LB)
      role ? accesses<0, 1>(y, x, r0, r1) : accesses<0, 1>(x, y, r0, r1);
    if (TEST == W2)
      role ? accesses<1, 2>(y, x, r0, r1) : accesses<1, 2>(x, y, r0, r1);
    if (TEST == R)
      role ? accesses<2, 0>(y, x, r0, r1) : accesses<1, 1>(x, y, r0, r1);
    if (TEST == S)
      role ? accesses<0, 1>(y, x, r0, r1) : accesses<2, 1>(x, y, r0, r1);
    results[attempt * 4 + role * 2] = r0;
    results[attempt * 4 + role * 2 + 1] = r1;
  }
}

static unsigned outcome_of(int test, const unsigned *r, unsigned x, unsigned y) {
  switch (test) {
  case WR: return r[2];
  case WW: return x == 2;
  case MP: return r[2] * 2 + r[3];
  case SB: return r[1] * 2 + r[3];
  case LB: return r[0] * 2 + r[2];
  case W2: return (x == 1) * 2 + (y == 1);
  case R: return (y == 2) * 2 + (r[3] != 0);
  default: return r[2] * 2 + (x == 2);
  }
}

typedef void (*Kernel)(const int *, unsigned *, unsigned *, const unsigned *, unsigned *, int, unsigned);
static const Kernel kernels[] = {litmus<WR>, litmus<WW>, litmus<MP>, litmus<SB>, litmus<LB>, litmus<W2>, litmus<R>, litmus<S>};

int main() {
  mem_begin();
  puts("kind,test,copies,threads,words,tries,a,b,c,d,e");
  int sms = sm_count();
  std::mt19937 random(1);
  Buffer<unsigned> pool((size_t)PAGES * PAGE);
  pool.clear();
  check_cuda(cudaFuncSetAttribute(time_pages, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes), "shared");
  check_cuda(cudaFuncSetAttribute(time_lines, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes), "shared");
  Buffer<unsigned short> page_took(PAGES);
  time_pages<<<sms, 32, shared_bytes>>>(0, pool.data, PAGES, page_took.data);
  finish("pages");
  std::vector<unsigned short> page = page_took.get();
  std::vector<unsigned> of_half[2];
  std::vector<int> page_half(PAGES), sm_half(sms);
  for (unsigned i = 0; i < PAGES; i++) {
    page_half[i] = page[i] > 440;
    of_half[page_half[i]].push_back(i);
  }
  for (int sm = 0; sm < sms; sm++) {
    time_pages<<<sms, 32, shared_bytes>>>((unsigned)sm, pool.data, 64, page_took.data);
    finish("half");
    std::vector<unsigned short> got = page_took.get();
    int far = 0;
    for (int i = 0; i < 64; i++)
      far += (got[i] > 440) != page_half[i];
    sm_half[sm] = far > 32;
  }
  Buffer<unsigned> line_took(WHATS * 64);
  for (int sm = 0; sm < sms; sm++) { // 64 lines, 33 lines apart
    time_lines<<<sms, 32, shared_bytes>>>((unsigned)sm, pool.data, 64, 33 * LINE, line_took.data);
    finish("lines");
    std::vector<unsigned> got = line_took.get();
    for (int i = 0; i < 64; i++)
      printf("line,sm %d,-,%d,%d,%d,%u,%u,%u,%u,%u\n", sm, sm_half[sm], page_half[i * 33 / 32], i * 33, got[i * WHATS], got[i * WHATS + 1],
             got[i * WHATS + 2], got[i * WHATS + 3], got[i * WHATS + 4]);
  }

  check_cuda(cudaFuncSetAttribute(time_after, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes), "shared");
  Buffer<unsigned> after_took(1024);
  for (int what = 0; what < AFTERS; what++) {
    pool.clear();
    time_after<<<sms, 32, shared_bytes>>>(0, pool.data, 1024, what, after_took.data);
    finish("after");
    std::vector<unsigned> got = after_took.get();
    for (int far = 0; far < 2; far++) {
      std::vector<unsigned> each;
      for (int i = 0; i < 1024; i++)
        if (page_half[i * 33 / 32] == far)
          each.push_back(got[i]);
      std::sort(each.begin(), each.end());
      int slow = 0;
      for (unsigned took : each)
        slow += took > 375;
      printf("after,%s,-,sm 0,%s,%zu,%u,%u,%u,%d\n", after_names[what], far ? "far" : "near", each.size(), each[each.size() / 4], each[each.size() / 2],
             each[each.size() * 3 / 4], slow);
    }
  }
  for (int far = 0; far < 2; far++)
    for (int first = 0; first < 2; first++) {
      two_fences<<<1, 64>>>(pool.data + of_half[far][3] * PAGE, first, after_took.data);
      finish("fences");
      std::vector<unsigned> got = after_took.get();
      std::sort(got.begin(), got.begin() + 8);
      std::sort(got.begin() + 8, got.begin() + 16);
      printf("fences,a store; then warp %d; then the other,-,1 block,line %d,8,%u,%u,%u,%u\n", first, far, got[0], got[4], got[8], got[12]);
    }
  for (int far = 0; far < 2; far++)
    for (int what = 0; what < 4; what++) {
      block_fence<<<1, 1>>>(pool.data + of_half[far][3] * PAGE, what, after_took.data);
      finish("block fence");
      std::vector<unsigned> got = after_took.get();
      std::sort(got.begin(), got.begin() + 8);
      printf("fences,%s behind a %s,-,1 block,line %d,8,%u,%u,%u,%u\n", what % 2 ? "fence.acq_rel.cta" : "membar.cta", what < 2 ? "load" : "store", far,
             got[0], got[3], got[4], got[7]);
    }
  enum { TRIES = GROUPS * ROUNDS };
  Buffer<int> table(sms);
  Buffer<unsigned> meet(GROUPS * LINE), words(TRIES * 2), results(TRIES * 4);
  for (const Kernel &kernel : kernels)
    check_cuda(cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes), "shared");
  for (int test = 0; test < TESTS; test++)
    for (int copies = 0; copies < 2; copies++)
      for (int threads = 0; threads < 6; threads++)   // halves of A and B; 4, 5: both on one TPC
        for (int places = 0; places < 4; places++) {
          int half_a = threads < 4 ? threads / 2 : threads - 4, half_b = threads < 4 ? threads % 2 : half_a;
          if (test <= WW && places % 2)
            continue;
          unsigned counts[4] = {0, 0, 0, 0};
          for (unsigned launch = 1; launch <= LAUNCHES; launch++) {
            std::vector<int> who(sms, -1), tpcs(sms / 2);
            std::iota(tpcs.begin(), tpcs.end(), 0);
            std::shuffle(tpcs.begin(), tpcs.end(), random);
            int groups = 0;
            size_t next[2] = {0, 0};
            while (groups < GROUPS) {
              int sm[2] = {0, 0};
              for (int role = 0; role < (threads < 4 ? 2 : 1); role++) {
                int half = role ? half_b : half_a;
                size_t &i = next[half];
                while (i < tpcs.size() && sm_half[tpcs[i] * 2] != half)
                  i++;
                if (i == tpcs.size())
                  break;
                sm[role] = tpcs[i++] * 2 + (threads < 4 ? (int)(random() & 1) : 0);
                if (threads >= 4)
                  sm[1] = sm[0] + 1;
              }
              if (next[half_a] >= tpcs.size() || next[half_b] >= tpcs.size())
                break;
              int swap = half_a == half_b && (random() & 1);
              who[sm[0]] = groups * 2 + swap;
              who[sm[1]] = groups * 2 + !swap;
              groups++;
            }
            std::vector<unsigned> chosen(TRIES * 2);
            size_t at[2] = {random() % of_half[0].size(), random() % of_half[1].size()};
            for (int i = 0; i < TRIES; i++)
              for (int k = 0; k < 2; k++) {
                int half = k ? places % 2 : places / 2;
                size_t &j = at[half];
                j = (j + 1) % of_half[half].size();
                chosen[i * 2 + k] = of_half[half][j] * PAGE + (i % 4 * 8 + k * 4 + random() % 4) * LINE;
              }
            table.set(who);
            words.set(chosen);
            meet.clear();
            pool.clear();
            kernels[test]<<<sms, 32, shared_bytes>>>(table.data, meet.data, pool.data, words.data, results.data, copies, launch);
            finish("litmus");
            std::vector<unsigned> got = results.get(), all;
            if (test == WW || test >= W2)
              all = pool.get();
            else
              all.resize((size_t)PAGES * PAGE);
            for (int i = 0; i < groups * ROUNDS; i++)
              counts[outcome_of(test, &got[i * 4], all[chosen[i * 2]], all[chosen[i * 2 + 1]]) & 3]++;
          }
          printf("litmus,%s,%s,%s%d%d,%d%d,%u,%u,%u,%u,%u\n", test_names[test], copies ? "yes" : "no", threads < 4 ? "" : "T", half_a,
                 half_b, places / 2, places % 2, counts[0] + counts[1] + counts[2] + counts[3], counts[0], counts[1], counts[2], counts[3]);
          fflush(stdout);
        }
  return 0;
}
