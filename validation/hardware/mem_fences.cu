// What fences of an SM do to each other and to the stores of its warps. The first warp stores and fences in a loop; the others store, load,
// fence or wait in one. All words are random ones of 8 MB. The same kernels run in lockstep: mem_fences.yaml.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_fences mem_fences.cu
// Run:   ./mem_fences > mem_fences.csv
// Columns: warps, and of each so many lanes; stores of the first warp in a round, and of each other; whether these fence, how many loads they
// have in a round, and for about how many cycles they wait then; cycles of a round of the first warp, and of its fence; the same of the others.
#include "mem_places.cuh"

enum { WARM_UP = 40000, TIME = 200000, WORDS = 2 << 20 };
enum Sum { FIRST, FIRST_ROUNDS, FIRST_FENCE, OTHERS, OTHERS_ROUNDS, OTHERS_FENCE, SUMS };

static __device__ __forceinline__ void put(unsigned *word) { asm volatile("st.volatile.global.u32 [%0], 0;" ::"l"(word) : "memory"); }
static __device__ __forceinline__ unsigned look(const unsigned *word) {
  unsigned value;
  asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}

extern "C" __global__ void fences(unsigned *words, int lanes, int mine, int theirs, int they_fence, int loads, int pause,
                                  unsigned long long *sums) {
  if (threadIdx.x % 32 >= lanes)
    return;
  bool first = threadIdx.x < 32, fences = first || they_fence;
  int stores = first ? mine : theirs, wait = first ? 0 : pause;
  unsigned state = mixed(threadIdx.x + 1), start = now(), begun = 0, end = 0, rounds = 0, fence = 0, seen = 0;
  for (int i = 0; i < 100000; i++) {
    end = now();
    if (!begun && end - start > WARM_UP)
      begun = end, rounds = 0, fence = 0;
    if (begun && end - begun > TIME)
      break;
    state = state * 1664525u + 1013904223u + seen;
    for (int k = 0; k < stores; k++)
      put(words + mixed(state + k) % WORDS);
    for (int k = 0; !first && k < loads; k++)
      seen += look(words + mixed(state + k) % WORDS);
    if (fences) {
      unsigned before = now();
      __threadfence();
      fence += now() - before;
    }
    unsigned before = now(), cycles = wait ? wait / 2 + mixed(state) % wait : 0;
    while (now() - before < cycles) {
    }
    rounds++;
  }
  if (threadIdx.x % 32 == 0 && begun) {
    atomicAdd(&sums[first ? FIRST : OTHERS], (unsigned long long)(end - begun));
    atomicAdd(&sums[first ? FIRST_ROUNDS : OTHERS_ROUNDS], (unsigned long long)rounds);
    atomicAdd(&sums[first ? FIRST_FENCE : OTHERS_FENCE], (unsigned long long)fence);
  }
}

extern "C" __global__ void say(const unsigned long long *sums, int warps, int lanes, int mine, int theirs, int they_fence, int loads,
                               int pause) {
  double others = sums[OTHERS_ROUNDS] ? (double)sums[OTHERS_ROUNDS] : 1;
  printf("%d,%d,%d,%d,%d,%d,%d,%.0f,%.0f,%.0f,%.0f\n", warps, lanes, mine, theirs, they_fence, loads, pause,
         (double)sums[FIRST] / sums[FIRST_ROUNDS], (double)sums[FIRST_FENCE] / sums[FIRST_ROUNDS], sums[OTHERS] / others,
         sums[OTHERS_FENCE] / others);
}

int main() {
  unsigned *words;
  unsigned long long *sums;
  check_cuda(cudaMalloc(&words, 4 * WORDS), "cudaMalloc");
  check_cuda(cudaMalloc(&sums, SUMS * sizeof *sums), "cudaMalloc");
  check_cuda(cudaMemset(words, 0, 4 * WORDS), "cudaMemset");
  printf("warps,lanes,mine,theirs,fences,loads,pause,round,fence,others,others_fence\n");
  fflush(stdout);
  auto measure = [&](int warps, int lanes, int mine, int theirs, int they_fence, int loads, int pause) {
    check_cuda(cudaMemset(sums, 0, SUMS * sizeof *sums), "cudaMemset");
    fences<<<1, 32 * warps>>>(words, lanes, mine, theirs, they_fence, loads, pause, sums);
    say<<<1, 1>>>(sums, warps, lanes, mine, theirs, they_fence, loads, pause);
    finish("fences");
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // prints
  };
  for (int lanes : {1, 32}) {
    for (int mine : {0, 1, 2})
      measure(1, lanes, mine, 0, 0, 0, 0);
    for (int warps : {2, 8, 32})
      for (int mine : {0, 1})
        for (int pause : {0, 100, 400, 1000, 4000}) {
          measure(warps, lanes, mine, 1, 0, 0, pause);
          measure(warps, lanes, mine, 0, 0, 1, pause);
          measure(warps, lanes, mine, 0, 1, 0, pause);
          measure(warps, lanes, mine, 1, 1, 0, pause);
        }
  }
  for (int lanes : {1, 4, 32})
    for (int warps : {4, 8, 16, 32})
      for (int stores : {2, 4})
        measure(warps, lanes, stores, stores, 1, 0, 0);
  return 0;
}
