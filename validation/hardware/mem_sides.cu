// Loads and stores of random words by SMs of one half of the L2 or of both, to lines whose home is in one half or in both: who has to load, and who has
// to store, for both to slow each other.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_sides mem_sides.cu
// Run:   ./mem_sides > mem_sides.csv
// Columns: loaders, storers, homes: 0 no SM, 1 those of the half of SM 0, 2 those of the other, 3 both; homes: of pages. how: 0 an SM that does both does them by turns,
// 1 odd warps load and even ones store. lines; warps of an SM. loads, stores: of lanes a cycle, of all SMs together.
#include <vector>

#include "mem_places.cuh"

enum { WARM_UP = 40000, TIME = 100000, PAGE_WORDS = 1024, PAGES = 1200, TRIES = 12, MIDDLE = 500 };

static __device__ __forceinline__ unsigned sm_number() {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}

// The least that an addition to the first word of each page takes from each block's SM; only from SM 0 to all pages.
extern "C" __global__ void look(unsigned *words, unsigned *pages, unsigned *sms) {
  unsigned sm = sm_number(), count = sm ? 1 : PAGES;
  for (unsigned page = 0; page < count; page++) {
    unsigned least = ~0u;
    for (int i = 0; i < TRIES; i++) {
      unsigned start = now(), found = atomicAdd(&words[page * PAGE_WORDS], 0);
      unsigned took = now_with(found) - start;
      least = min(least, took);
    }
    if (!sm)
      pages[page] = least;
    if (!page)
      sms[sm] = least;
  }
}

// `list`: the pages. `half`: of each SM, 1 or 2.
extern "C" __global__ void sides(unsigned *words, const unsigned *list, unsigned count, const unsigned *half, unsigned loaders, unsigned storers,
                                 int how, unsigned long long *sums) {
  unsigned mine = half[sm_number()], odd = threadIdx.x / 32 & 1;
  bool loads = (loaders & mine) && !(how && !odd), stores = (storers & mine) && !(how && odd);
  if (!loads && !stores)
    return;
  unsigned state = mixed(blockIdx.x * blockDim.x + threadIdx.x + 1), seen = 0, rounds = 0, start = now(), begun = 0, end = 0;
  for (int i = 0; i < 1000000; i++) {
    end = now();
    if (!begun && end - start > WARM_UP)
      begun = end, rounds = 0;
    if (begun && end - begun > TIME)
      break;
    state = state * 1664525u + 1013904223u + seen;
    unsigned pick = mixed(state) & (count - 1);
    volatile unsigned *word = words + list[pick / PAGE_WORDS] * PAGE_WORDS + pick % PAGE_WORDS;
    if (loads)
      seen = *word;
    if (stores) {
      pick = mixed(state + 1) & (count - 1);
      words[list[pick / PAGE_WORDS] * PAGE_WORDS + pick % PAGE_WORDS] = seen; // zeros
    }
    rounds++;
  }
  if (threadIdx.x % 32 == 0 && begun) {
    unsigned long long rate = 32000ull * rounds * 1000 / (end - begun);
    if (loads)
      atomicAdd(&sums[0], rate);
    if (stores)
      atomicAdd(&sums[1], rate);
  }
}

int main() {
  static unsigned latency[PAGES], of_sm[132], list[PAGES];
  unsigned *words, *pages, *sms, *listed;
  unsigned long long *sums, sum[2];
  check_cuda(cudaMalloc(&words, 4 * PAGE_WORDS * PAGES), "cudaMalloc");
  check_cuda(cudaMemset(words, 0, 4 * PAGE_WORDS * PAGES), "cudaMemset");
  check_cuda(cudaMalloc(&pages, sizeof latency), "cudaMalloc");
  check_cuda(cudaMalloc(&listed, sizeof list), "cudaMalloc");
  check_cuda(cudaMalloc(&sms, sizeof of_sm), "cudaMalloc");
  check_cuda(cudaMalloc(&sums, 16), "cudaMalloc");
  for (int i = 0; i < 2; i++)
    look<<<132, 1>>>(words, pages, sms);
  finish("look");
  check_cuda(cudaMemcpy(latency, pages, sizeof latency, cudaMemcpyDeviceToHost), "cudaMemcpy");
  check_cuda(cudaMemcpy(of_sm, sms, sizeof of_sm, cudaMemcpyDeviceToHost), "cudaMemcpy");
  unsigned halves[132], near[2] = {0, 0};
  for (int sm = 0; sm < 132; sm++) {
    bool same = (of_sm[sm] > MIDDLE) == (of_sm[0] > MIDDLE);
    halves[sm] = same ? 1 : 2;
    near[same]++;
  }
  fprintf(stderr, "latencies of SM 0: %u %u %u %u %u %u; of SMs:", latency[0], latency[1], latency[2], latency[3], latency[4], latency[5]);
  for (int sm = 0; sm < 132; sm++)
    fprintf(stderr, " %u", of_sm[sm]);
  fprintf(stderr, "; %u SMs of SM 0's half\n", near[1]);
  check_cuda(cudaMemcpy(sms, halves, sizeof halves, cudaMemcpyHostToDevice), "cudaMemcpy");
  printf("loaders,storers,homes,how,lines,warps,loads,stores\n");
  static const unsigned char cases[][3] = {{3, 3, 3}, {3, 0, 3}, {0, 3, 3}, {1, 1, 1}, {1, 1, 2}, {1, 2, 1}, {1, 2, 2}, {1, 1, 3}, {3, 3, 1}, {1, 3, 1}, {2, 3, 1}, {3, 1, 1}, {3, 2, 1},
                                           {1, 0, 1}, {1, 0, 2}, {0, 1, 1}, {0, 1, 2}};
  for (unsigned lines : {256u, 2048u, 8192u}) {
    for (auto &c : cases)
      for (int how = 0; how < 2; how++) {
        if (how && !((c[0] & c[1])))
          continue;
        unsigned count = 0, wanted = lines / 32;
        for (unsigned page = 0; page < PAGES && count < wanted; page++)
          if (c[2] & (latency[page] > MIDDLE ? 2 : 1))
            list[count++] = page;
        if (count < wanted)
          continue;
        check_cuda(cudaMemcpy(listed, list, sizeof list, cudaMemcpyHostToDevice), "cudaMemcpy");
        for (int warps : {8, 32}) {
          check_cuda(cudaMemset(sums, 0, 16), "cudaMemset");
          sides<<<132, 32 * warps, 0>>>(words, listed, wanted * PAGE_WORDS, sms, c[0], c[1], how, sums);
          finish("sides");
          check_cuda(cudaMemcpy(sum, sums, sizeof sum, cudaMemcpyDeviceToHost), "cudaMemcpy");
          printf("%u,%u,%u,%d,%u,%d,%.3f,%.3f\n", c[0], c[1], c[2], how, lines, warps, sum[0] / 1e6, sum[1] / 1e6);
        }
      }
  }
  return 0;
}
