// Logs, on a real GPU, the order in which the lanes of a warp take their steps in the kernels that orders.py writes.
// Build and run: nvcc -O2 -std=c++17 -arch=native -o orders orders.cu && ./orders FILE.cubin MASKS.txt
// Output: a line for each line of MASKS.txt: for each lane, separated by `|`, the numbers of its steps in the order of all.
#include <cstdio>
#include <cstring>
#include <unistd.h>

#define CHECK(call) \
  do { \
    cudaError_t error = (call); \
    if (error != cudaSuccess) { \
      fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
      _exit(2); \
    } \
  } while (0)

// The words that a kernel is given: its counter, masks and counts at 8, ones at 128, counters at 256, logs from 512 on.
enum { WORDS = 4096, GIVEN = 8, GIVEN_COUNT = 16, ONES = 128, LOGS = 512, LOG_WORDS = 64, LANES = 32 };

static void print_logs(const int *words, int threads) {
  for (int lane = 0; lane < threads; lane++) {
    const int *log = words + LOGS + lane * LOG_WORDS;
    for (int i = 0; i < LOG_WORDS && log[i] >= 0; i++)
      printf("%d ", log[i]);
    printf(lane + 1 < threads ? "| " : "\n");
  }
}

int main(int argc, char **argv) {
  static int words[WORDS];
  FILE *masks = argc == 3 ? fopen(argv[2], "r") : nullptr;
  if (!masks) {
    fprintf(stderr, "usage: orders FILE.cubin MASKS.txt\n");
    return 2;
  }
  cudaLibrary_t library;
  CHECK(cudaLibraryLoadFromFile(&library, argv[1], nullptr, nullptr, 0, nullptr, nullptr, 0));
  int *memory, number, threads;
  CHECK(cudaMalloc(&memory, sizeof words));
  while (fscanf(masks, "%d %d", &number, &threads) == 2) {
    char name[32];
    memset(words, 0, sizeof words);
    for (int i = 0; i < GIVEN_COUNT; i++) {
      unsigned given;
      if (fscanf(masks, "%u", &given) != 1)
        return 2;
      words[GIVEN + i] = (int)given;
    }
    for (int i = 0; i < LANES; i++)
      words[ONES + i] = 1;
    memset(words + LOGS, 0xff, LANES * LOG_WORDS * sizeof words[0]);
    CHECK(cudaMemcpy(memory, words, sizeof words, cudaMemcpyHostToDevice));
    snprintf(name, sizeof name, "o_%d", number);
    cudaKernel_t kernel;
    void *arguments[] = {&memory};
    CHECK(cudaLibraryGetKernel(&kernel, library, name));
    CHECK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(threads), arguments, 0, 0));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(words, memory, sizeof words, cudaMemcpyDeviceToHost));
    print_logs(words, threads);
  }
}
