// Readers beside atomics, on the same word, line or another line; rare atomics under many polls; and who wins a contended CAS.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_mixed mem_mixed.cu
// Run:   ./mem_mixed > mem_mixed.csv
#include "mem.cuh"

enum { LINE = 32 /* words */, CYCLES = 300000 };

struct Count {
  unsigned done;
  long long took;
};

// For CYCLES cycles the first `readers` blocks load word `read`, each load behind the one before; the others access word `other` every
// `pause` cycles or more. With ATOMICS by atom.add, else by stores.
template <bool ATOMICS>
__global__ void mixed(unsigned *words, int readers, int read, int other, int pause, Count *count) {
  if (threadIdx.x)
    return;
  bool reads = blockIdx.x < readers;
  unsigned *at = words + (reads ? read : other), sum = 0, done = 0;
  long long begun = now(), spent = 0;
  for (int i = 0; i < CYCLES; i++) { /* a bound beside the time */
    long long start = now();
    if (start - begun >= CYCLES)
      break;
    sum += reads ? touch<LOAD_VOLATILE>(at + sum) : ATOMICS ? touch<ATOM_ADD>(at + sum) : touch<STORE>(at + sum);
    long long end = now_with(sum);
    if (end - begun >= CYCLES / 4) {
      done++;
      spent += end - start;
    }
    if (!reads && pause)
      while (now() - end < pause)
        ;
  }
  count[blockIdx.x] = {done, spent};
}

static void show(const std::string &variant, const std::vector<Count> &counts, int from, int to, int blocks, long n) {
  std::vector<double> each;
  for (int i = from; i < to; i++)
    if (counts[i].done)
      each.push_back((double)counts[i].took / counts[i].done);
  row("mixed", variant, blocks, 1, n, 1, each);
}

template <bool ATOMICS> static void pairs(unsigned *words, int grid, int readers, int pause) {
  static const struct {
    const char *name;
    int other;
  } places[] = {
      {"same word", 0}, {"same line", 4}, {"same sector", 1}, {"next line", LINE}, {"another page", 1024 * 64}};
  for (const auto &place : places) {
    Buffer<Count> counts(grid);
    counts.clear();
    mixed<ATOMICS><<<grid, 32>>>(words, readers, 0, place.other, pause, counts.data);
    finish("mixed");
    std::vector<Count> got = counts.get();
    std::string what =
        std::string(ATOMICS ? " atom.add" : " store") + (pause ? " now and then, " : ", ") + place.name;
    show("volatile beside" + what, got, 0, readers, grid, readers);
    show("others:" + what, got, readers, grid, grid, grid - readers);
  }
}

// Each block tries to change the word from 0 to 1; who does keeps it `hold` cycles. Counts the wins and the tries of each block.
__global__ void contest(unsigned *word, int hold, Count *count, unsigned *sm) {
  if (threadIdx.x)
    return;
  unsigned wins = 0, tries = 0;
  for (long long begun = now(); now() - begun < 4 * CYCLES && tries < 100000; tries++) {
    if (atomicCAS(word, 0, 1) != 0)
      continue;
    wins++;
    for (long long start = now(); now() - start < hold;)
      ;
    atomicExch(word, 0);
  }
  count[blockIdx.x] = {wins, tries};
  sm[blockIdx.x] = sm_id();
}

static void contests(unsigned *words) {
  for (int grid : {2, 8, 32, 132, 264})
    for (int hold : {0, 500}) {
      Buffer<Count> counts(grid);
      Buffer<unsigned> sms(grid);
      words += LINE;
      contest<<<grid, 32>>>(words, hold, counts.data, sms.data);
      finish("contest");
      std::vector<Count> got = counts.get();
      std::vector<unsigned> sm = sms.get();
      std::string variant = "atom.cas won, held for " + std::to_string(hold) + " cycles";
      std::vector<double> wins, tries;
      for (int i = 0; i < grid; i++) {
        wins.push_back(got[i].done);
        tries.push_back((double)got[i].took);
      }
      row("mixed", variant + ": wins of a block", grid, 1, grid, 1, wins);
      row("mixed", variant + ": tries of a block", grid, 1, grid, 1, tries);
      for (int i = 0; i < grid && grid == 132; i++)
        row("mixed", variant + ": wins by SM", grid, 1, sm[i], 1, {wins[i]});
    }
}

int main() {
  mem_begin();
  Buffer<unsigned> words(1 << 20);
  words.clear();
  for (int grid : {2, 4, 16, 132, 528, 1056})
    pairs<true>(words.data, grid, grid / 2, 0);
  for (int grid : {2, 16, 132, 1056})
    pairs<false>(words.data, grid, grid / 2, 0);
  for (int grid : {2, 16, 132, 1056}) {
    pairs<true>(words.data, grid, grid - 1, 3000);
    pairs<true>(words.data, grid, 1, 0);
  }
  contests(words.data + 4096);
}
