// What one warp's accesses wait for beside a crowd on random words (mem_random.cu), as a distribution: all warps but the first of each block add 0
// to words of random pairs; 1, 4 or 32 lanes of the first load, or add, too. A warp waits for the slowest of its lanes.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_pressure mem_pressure.cu
// Run:   ./mem_pressure > mem_pressure.csv
// Variants: `crowd` (a round of its warps), `load` or `atom.add` of so many lanes, `other lines` where nobody adds there. n: pairs. cycles, low, high: the mean,
// what a tenth takes at most, and what nine tenths do.
#include "mem.cuh"

enum { WARM_UP = 60000, TIME = 200000, KEPT = 256, SMS = 132 };

static __device__ unsigned mixed(unsigned h) {
  h = (h ^ h >> 16) * 0x85EBCA6Bu;
  h = (h ^ h >> 13) * 0xC2B2AE35u;
  return h ^ h >> 16;
}

// `kept`: the first cycles of each SM's probes; `sums`: their number, then cycles and rounds of the crowd's warps.
__global__ void crowd(unsigned *pairs, unsigned count, unsigned probes_at, int lanes, int adds, unsigned *kept,
                      unsigned long long *sums) {
  unsigned sm = sm_id(), seed = (blockIdx.x * blockDim.x + threadIdx.x) * 0x9E3779B9u, seen = 0, done = 0;
  bool probes = threadIdx.x < 32;
  if (probes && threadIdx.x >= lanes)
    return;
  long long start = now(), begun = 0, end = start;
  while (end - start < WARM_UP + TIME) {
    if (!begun && end - start > WARM_UP)
      begun = end, done = 0;
    seed += 0x9E3779B9u;
    unsigned *word = pairs + 2 * (mixed(seed + seen) & (count - 1)) + (probes ? probes_at + !adds : 0);
    long long before = now();
    seen = probes && !adds ? touch<LOAD_VOLATILE>(word) : touch<ATOM_ADD>(word);
    end = now_with(seen);
    if (threadIdx.x == 0 && begun && done < KEPT)
      kept[sm * KEPT + done] = (unsigned)(end - before);
    done++;
  }
  if (threadIdx.x == 0)
    sums[3 * sm] = min(done, (unsigned)KEPT);
  if (!probes && threadIdx.x % 32 == 0) {
    atomicAdd(&sums[3 * sm + 1], (unsigned long long)(end - begun));
    atomicAdd(&sums[3 * sm + 2], (unsigned long long)done);
  }
}

int main() {
  mem_begin();
  Buffer<unsigned> words(4 << 20), kept(SMS * KEPT);
  Buffer<unsigned long long> sums(3 * SMS);
  words.clear();
  auto measure = [&](unsigned count, int blocks, int warps, int adds, int apart, int lanes) {
    sums.clear();
    crowd<<<blocks, 32 * (warps + 1)>>>(words.data, count, apart ? 2 * count : 0, lanes, adds, kept.data, sums.data);
    finish("crowd");
    auto sum = sums.get();
    auto cycles = kept.get();
    double took = 0, rounds = 0, total = 0;
    std::vector<unsigned> all;
    for (int sm = 0; sm < SMS; sm++) {
      took += sum[3 * sm + 1], rounds += sum[3 * sm + 2];
      for (unsigned i = 0; i < sum[3 * sm]; i++)
        all.push_back(cycles[sm * KEPT + i]), total += all.back();
    }
    std::sort(all.begin(), all.end());
    const char *where = apart ? "; other lines" : "";
    std::string probe = std::string(adds ? "atom.add" : "load") + " of " + std::to_string(lanes) + " lanes" + where;
    printf("pressure,crowd beside %s,%d,%d,%u,1,%.2f,%.2f,%.2f\n", probe.c_str(), blocks, 32 * (warps + 1), count,
           took / rounds, took / rounds, took / rounds);
    printf("pressure,%s,%d,%d,%u,1,%.2f,%u,%u\n", probe.c_str(), blocks, 32 * (warps + 1), count, total / all.size(),
           all[all.size() / 10], all[all.size() * 9 / 10]);
  };
  for (unsigned count : {1u << 10, 1u << 15, 1u << 20})
    for (auto [blocks, warps] : {std::pair<int, int>{28, 31}, {56, 8}, {56, 16}, {56, 31}, {132, 8}, {132, 16}, {132, 24},
                                 {132, 31}})
      for (int adds : {0, 1}) {
        for (int lanes : {1, 4, 32})
          measure(count, blocks, warps, adds, 0, lanes);
        measure(count, blocks, warps, adds, 1, 1);
      }
  return 0;
}
