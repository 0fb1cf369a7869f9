// What a slice of the L2 takes for accesses of different kinds in turn: all threads access random words of many lines, so that slices and not
// lines are what limits them. A round is an access of each kind, behind one another in every warp, or each kind in warps of its own.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_turns mem_turns.cu
// Run:   ./mem_turns > mem_turns.csv
// Variants: `KIND`, `KIND then KIND` (of the same word, or of another one), `KIND beside KIND` (odd and even warps; a row for each). n: lines. cycles: of a round of a warp.
#include "mem.cuh"

enum { WARM_UP = 60000, TIME = 200000 };
enum Kind { NOTHING, LOADS, STORES, REDUCES, ADDS, KINDS };
static const char *const kind_names[] = {"nothing", "load", "store", "red.add", "atom.add"};

static __device__ unsigned mixed(unsigned h) {
  h = (h ^ h >> 16) * 0x85EBCA6Bu;
  h = (h ^ h >> 13) * 0xC2B2AE35u;
  return h ^ h >> 16;
}

static __device__ __forceinline__ unsigned access(int kind, unsigned *word, unsigned seen) {
  if (kind == LOADS)
    return touch<LOAD_VOLATILE>(word);
  if (kind == STORES)
    touch<STORE>(word);
  if (kind == REDUCES)
    touch<RED_ADD>(word);
  if (kind == ADDS)
    return touch<ATOM_ADD>(word);
  return seen;
}

// `sums`: of odd and even warps, cycles and rounds. What is read is 0.
extern "C" __global__ void turns(unsigned *words, unsigned count, int first, int second, int same, int apart,
                                 unsigned long long *sums) {
  int odd = threadIdx.x / 32 & 1, one = apart && odd ? second : first, other = apart ? NOTHING : second;
  unsigned state = mixed(blockIdx.x * blockDim.x + threadIdx.x + 1), seen = 0, rounds = 0;
  long long start = now(), begun = 0, end = 0;
  for (int i = 0; i < 1000000; i++) {
    end = now();
    if (!begun && end - start > WARM_UP)
      begun = end, rounds = 0;
    if (begun && end - begun > TIME)
      break;
    state = state * 1664525u + 1013904223u + seen;
    unsigned *word = words + (mixed(state) & (count - 1)), *next = words + (mixed(state + 1) & (count - 1));
    seen = access(one, word, seen);
    seen += access(other, same ? word + seen : next + seen, 0);
    rounds++;
  }
  if (threadIdx.x % 32 == 0 && begun) {
    atomicAdd(&sums[2 * odd], (unsigned long long)(end - begun));
    atomicAdd(&sums[2 * odd + 1], (unsigned long long)rounds);
  }
}

int main() {
  mem_begin();
  Buffer<unsigned> words(4 << 20);
  Buffer<unsigned long long> sums(4);
  words.clear();
  auto measure = [&](unsigned count, int blocks, int warps, int first, int second, int same, int apart) {
    std::vector<double> each[2];
    for (int run = 0; run < 3; run++) {
      sums.clear();
      turns<<<blocks, 32 * warps>>>(words.data, count, first, second, same, apart, sums.data);
      finish("turns");
      std::vector<unsigned long long> sum = sums.get();
      for (int odd = 0; odd < 2; odd++)
        if (sum[2 * odd + 1])
          each[odd].push_back((double)sum[2 * odd] / sum[2 * odd + 1]);
    }
    std::string a = kind_names[first], b = kind_names[second];
    if (second == NOTHING)
      row("turns", a, blocks, 32 * warps, count / 32, 1, each[0]);
    else if (!apart)
      row("turns", a + " then " + b + (same ? "; the same word" : "; another word"), blocks, 32 * warps, count / 32, 1,
          each[0]);
    else
      for (int odd = 0; odd < 2; odd++)
        row("turns", odd ? b + " beside " + a : a + " beside " + b, blocks, 32 * warps, count / 32, 1, each[odd]);
  };
  for (unsigned count : {1u << 22, 1u << 19, 1u << 16, 1u << 14})
    for (auto [blocks, warps] : {std::pair<int, int>{1, 32}, {56, 8}, {56, 32}, {132, 32}})
      for (int first = LOADS; first < KINDS; first++) {
        measure(count, blocks, warps, first, NOTHING, 0, 0);
        for (int second = LOADS; second < KINDS; second++) {
          if (first == second)
            continue;
          for (int same : {0, 1})
            measure(count, blocks, warps, first, second, same, 0);
          if (first < second)
            measure(count, blocks, warps, first, second, 0, 1);
        }
      }
  return 0;
}
