// What a warp that holds a crowded lock waits for, step by step; and how long stores take until they have been
// performed.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_holder mem_holder.cu
// Run:   ./mem_holder > mem_holder.csv
// Variants: `holder: STEP` (n: lanes of each block that try): the first warp of the block in the middle does what a
// critical section does, while all others try the word with compare-and-swaps that fail. `performed: PLACE` (n:
// stores of one thread of each block): from the first store to the end of the fence behind the last one.
#include "mem.cuh"

enum { ROUNDS = 64, BEGIN = 30000, END = 1500000, STEPS = 6 };
static const char *const step_names[STEPS] = {"its own try",     "fence",       "load",
                                              "store and fence", "fence again", "exchange"};

__global__ void holder(unsigned *word, unsigned *total, int lanes, long long *spent) {
  if (threadIdx.x % 32 >= lanes)
    return;
  bool holds = blockIdx.x == gridDim.x / 2 && threadIdx.x < 32;
  unsigned seen = 0;
  long long begun = now();
  for (int round = 0; holds ? round < ROUNDS : now() - begun < END; round++) {
    if (holds && round == 0)
      while (now() - begun < BEGIN)
        ;
    long long at[STEPS + 1];
    at[0] = now();
    asm volatile("atom.global.cas.b32 %0, [%1], 7, 8;" : "=r"(seen) : "l"(word + seen) : "memory");
    if (!holds)
      continue;
    at[1] = now_with(seen);
    if (threadIdx.x == 0) {
      __threadfence();
      at[2] = now();
      seen += touch<LOAD_VOLATILE>(total);
      at[3] = now_with(seen);
      touch<STORE>(total);
      __threadfence();
      at[4] = now();
      __threadfence();
      at[5] = now();
      seen += touch<ATOM_EXCH>(word);
      at[6] = now_with(seen);
      for (int i = 0; i < STEPS; i++)
        spent[i] += at[i + 1] - at[i];
    }
    __syncwarp();
  }
}

// Stores to a word `block_apart` words from that of the block before, behind an atomic exchange if `atomic`.
__global__ void performed(unsigned *words, int block_apart, int stores, int atomic, double *took) {
  unsigned *word = words + blockIdx.x * block_apart;
  long long start = now();
  if (atomic)
    touch<ATOM_EXCH>(word);
#pragma unroll 8
  for (int i = 0; i < stores; i++)
    touch<STORE>(word);
  __threadfence();
  took[blockIdx.x] = now() - start;
}

int main() {
  mem_begin();
  Buffer<unsigned> words(1 << 20), total(1024);
  Buffer<long long> spent(STEPS);
  words.clear();
  static const int shapes[][3] = {{1, 32, 32},  {4, 32, 32},   {32, 32, 1},   {32, 32, 32}, {32, 64, 32},
                                  {132, 32, 1}, {132, 32, 32}, {132, 128, 1}, {66, 32, 32}};
  for (auto &[blocks, threads, lanes] : shapes) {
    for (int again = 0; again < 2; again++) {
      spent.clear();
      holder<<<blocks, threads>>>(words.data, total.data, lanes, spent.data);
      finish("holder");
    }
    std::vector<long long> each = spent.get();
    for (int i = 0; i < STEPS; i++)
      row("holder", std::string("holder: ") + step_names[i], blocks, threads, lanes * threads / 32, ROUNDS,
          {(double)each[i]});
  }
  Buffer<double> took(1056);
  static const std::pair<const char *, int> places[] = {
      {"one word", 0}, {"a word of one line each", 1}, {"one line each", 32}};
  for (auto &[place, apart] : places)
    for (int atomic = 0; atomic < 2; atomic++)
      for (int blocks : {1, 8, 32, 66, 132, 264, 528})
        for (int stores : {16, 64, 256, 1024}) {
          for (int again = 0; again < 2; again++) {
            performed<<<blocks, 1>>>(words.data, apart, stores, atomic, took.data);
            finish("performed");
          }
          std::vector<double> each = took.get();
          each.resize(blocks);
          row("holder", std::string("performed: ") + place + (atomic ? "; behind an atomic" : ""), blocks, 1, stores,
              1, each);
        }
}
