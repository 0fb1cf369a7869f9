// Many warps try one word at once: compare-and-swaps that fail, each behind the one before. What a try takes by lanes, warps and SM says how
// fast an SM sends them, how fast the atomic unit serves them, and who is served how often.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_crowd mem_crowd.cu
// Run:   ./mem_crowd > mem_crowd.csv
// Variants: `atom.cas that fails` (n: lanes of each warp that try), the median over warps; `...; n lanes: by SM`, 132 blocks, n is the SM.
#include "mem.cuh"

enum { TRIES = 400, FENCES = 100 };

__global__ void crowd(unsigned *word, int lanes, double *took, unsigned *sm) {
  if (threadIdx.x % 32 >= lanes)
    return;
  long long spent = 0;
  unsigned seen = 0;
  for (int i = 0; i < TRIES; i++) {
    long long start = now();
    asm volatile("atom.global.cas.b32 %0, [%1], 7, 8;" : "=r"(seen) : "l"(word) : "memory");
    spent += now_with(seen) - start;
  }
  if (threadIdx.x % 32 == 0) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    took[warp] = (double)spent / TRIES;
    sm[warp] = sm_id();
  }
}

// The last warp of the first `fencing` blocks makes fences, the others try the word until it is done (`own`: in those blocks, too). With a load of a
// word that nobody else wants before each fence, if `loads`.
__global__ void fences(unsigned *word, unsigned *quiet, int fencing, int own, int loads, volatile int *done,
                       double *took) {
  unsigned seen = 0;
  if (threadIdx.x / 32 == 1) {
    if (blockIdx.x >= fencing || threadIdx.x % 32)
      return;
    long long spent = 0, begun = now();
    while (now() - begun < 30000)
      ;
    for (int i = 0; i < FENCES; i++) {
      if (loads)
        seen += touch<LOAD_VOLATILE>(quiet + blockIdx.x * 1024 + seen);
      long long start = now_with(seen);
      __threadfence();
      spent += now() - start;
    }
    took[blockIdx.x] = (double)spent / FENCES;
    atomicAdd((int *)done, 1);
    return;
  }
  if (!own && blockIdx.x < fencing)
    return;
  for (int i = 0; i < 100000 && *done < fencing; i++) /* each behind the one before: what comes back is 0 */
    asm volatile("atom.global.cas.b32 %0, [%1], 7, 8;" : "=r"(seen) : "l"(word + seen) : "memory");
}

int main() {
  mem_begin();
  Buffer<unsigned> words(1 << 20), sms(4096);
  Buffer<double> took(4096);
  words.clear();
  static const int shapes[][3] = {{1, 32, 1},   {1, 32, 2},   {1, 32, 8},    {1, 32, 16},   {1, 32, 32},
                                  {1, 128, 32}, {1, 512, 1},  {1, 512, 32},  {4, 32, 32},   {32, 32, 1},
                                  {32, 32, 32}, {132, 32, 1}, {132, 32, 32}, {132, 128, 1}, {132, 128, 8}};
  for (auto &[blocks, threads, lanes] : shapes) {
    size_t warps = blocks * threads / 32;
    for (int again = 0; again < 2; again++)
      crowd<<<blocks, threads>>>(words.data, lanes, took.data, sms.data);
    finish("crowd");
    std::vector<double> each = took.get();
    std::vector<unsigned> sm = sms.get();
    each.resize(warps);
    row("crowd", "atom.cas that fails", blocks, threads, lanes, 1, each);
    std::string by_sm = "atom.cas that fails; " + std::to_string(lanes) + " lanes: by SM";
    for (size_t i = 0; i < warps && blocks == 132 && threads == 32; i++)
      row("crowd", by_sm, blocks, threads, sm[i], 1, {each[i]});
  }
  Buffer<unsigned> quiet(132 * 1024);
  Buffer<int> done(1);
  quiet.clear();
  for (int blocks : {1, 4, 32, 132})
    for (int fencing : {1, 132})
      for (int own = 0; own < 2; own++)
        for (int loads = 0; loads < 2 && fencing <= blocks; loads++) {
          done.clear();
          fences<<<blocks, 64>>>(words.data, quiet.data, fencing, own, loads, done.data, took.data);
          finish("fences");
          std::vector<double> each = took.get();
          each.resize(fencing);
          row("crowd",
              std::string("fence beside tries") + (own ? " of its SM" : " of other SMs") +
                  (loads ? "; behind a load" : ""),
              blocks, 64, fencing, 1, each);
        }
}
