// Does a load that loops see what a distant SM stores, and when? By the kind of load: plain (ld.ca), relaxed and acquire of the block
// (STRONG.SM in SASS, which may hit the L1), of the GPU, volatile. A plain load before it may leave a copy in the L1; the other block
// stores `delay` cycles later. Prints how many of `tries` saw it within `limit` cycles, and when (least, median; -1: never).
//   nvcc -arch=sm_90 -o cta_loads cta_loads.cu && ./cta_loads >cta_loads_h200.csv
#include <algorithm>
#include <cstdio>
#include <vector>

enum Kind { PLAIN, RELAXED_CTA, ACQUIRE_CTA, RELAXED_GPU, ACQUIRE_GPU, VOLATILE, KINDS };
static const char *const names[] = {"plain", "relaxed.cta", "acquire.cta", "relaxed.gpu", "acquire.gpu", "volatile"};
constexpr long long limit = 1000000000, delay = 200000;

template <int K> static __device__ int load(const int *p) {
  int v;
  if (K == PLAIN)
    asm volatile("ld.global.ca.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  if (K == RELAXED_CTA)
    asm volatile("ld.relaxed.cta.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  if (K == ACQUIRE_CTA)
    asm volatile("ld.acquire.cta.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  if (K == RELAXED_GPU)
    asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  if (K == ACQUIRE_GPU)
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  if (K == VOLATILE)
    asm volatile("ld.volatile.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

// out: cycles of the reader from its start to the end (negative: not seen), loads; of the writer, its store's cycle
template <int K> __global__ void wait(int *words, long long *out, int far, bool plain) {
  int *flag = words, *met = words + 1024;
  if (threadIdx.x || (blockIdx.x && blockIdx.x != far))
    return;
  if (blockIdx.x == 0) {
    atomicAdd(met, 1);
    while (atomicAdd(met, 0) < 2)
      ;
    int first = plain ? load<PLAIN>(flag) : 0;
    long long begin = clock64(), now = begin, loads = 0;
    int seen = 0;
    while (!seen && now - begin < limit) {
      seen = load<K>(flag);
      loads++;
      now = clock64();
    }
    out[0] = seen && !first ? now - begin : -1;
    out[1] = loads;
  } else {
    atomicAdd(met, 1);
    while (atomicAdd(met, 0) < 2)
      ;
    long long begin = clock64();
    while (clock64() - begin < delay)
      ;
    *(volatile int *)flag = 1;
  }
}

template <int K> static void measure(int *words, long long *out, int far, bool plain) {
  constexpr int tries = 8;
  int seen = 0;
  std::vector<long long> cycles;
  long long loads = 0;
  for (int i = 0; i < tries; i++) {
    cudaMemset(words, 0, 8192);
    wait<K><<<132, 1>>>(words, out, far, plain);
    if (cudaDeviceSynchronize() != cudaSuccess)
      fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));
    seen += out[0] >= 0;
    cycles.push_back(out[0]);
    loads = std::max(loads, out[1]);
  }
  std::sort(cycles.begin(), cycles.end());
  printf("%s,%s,%d,%d,%d,%lld,%lld,%lld\n", names[K], plain ? "plain" : "none", far, tries, seen, cycles[0], cycles[tries / 2], loads);
  fflush(stdout);
}

int main() {
  int *words;
  long long *out;
  cudaMalloc(&words, 8192);
  cudaMallocHost(&out, 2 * sizeof *out);
  printf("load,load before,other block,tries,seen,least cycles,median cycles,most loads\n");
  for (bool plain : {true, false})
    for (int far : {1, 66}) {
      measure<PLAIN>(words, out, far, plain);
      measure<RELAXED_CTA>(words, out, far, plain);
      measure<ACQUIRE_CTA>(words, out, far, plain);
      measure<RELAXED_GPU>(words, out, far, plain);
      measure<ACQUIRE_GPU>(words, out, far, plain);
      measure<VOLATILE>(words, out, far, plain);
    }
}
