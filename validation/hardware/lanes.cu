// Runs the kernels of a PTX or cubin file that lanes.py made on a real GPU, and tells which end and which hang.
// Build and run: nvcc -O2 -std=c++17 -arch=native -o lanes lanes.cu && ./lanes FILE KERNEL...
// Output: CSV on stdout, kernel,outcome,words: what the first eight words hold at the end. A kernel's name ends with the
// number of its threads and its own. All kernels of a call run at once, each on an SM of its own as far as there are SMs; give it at most 100. What
// hasn't ended after a second hangs; the process then leaves, which ends it.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

static void check(cudaError_t error, const char *where) {
  if (error != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(error));
    _exit(2);
  }
}

enum { WORDS = 64, SHOWN = 8 };

struct Test {
  const char *name;
  cudaStream_t stream;
  int *words;
};

// Threads of a block: the last number but one of FORM_LANES_BLOCK_NUMBER.
static int block_of(const std::string &name) {
  size_t last = name.rfind('_');
  return atoi(name.c_str() + name.rfind('_', last - 1) + 1);
}

static void start(cudaLibrary_t library, Test &test) {
  cudaKernel_t kernel;
  void *arguments[] = {&test.words};
  check(cudaLibraryGetKernel(&kernel, library, test.name), test.name);
  check(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(block_of(test.name)), arguments, 0, test.stream), test.name);
}

int main(int argc, char **argv) {
  cudaLibrary_t library;
  if (argc < 3) {
    fprintf(stderr, "usage: lanes FILE KERNEL...\n");
    return 2;
  }
  check(cudaLibraryLoadFromFile(&library, argv[1], nullptr, nullptr, 0, nullptr, nullptr, 0), argv[1]);
  std::vector<Test> tests;
  for (int i = 2; i < argc; i++) {
    Test test = {argv[i], nullptr, nullptr};
    check(cudaStreamCreateWithFlags(&test.stream, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaMalloc(&test.words, WORDS * sizeof(int)), "cudaMalloc");
    check(cudaMemset(test.words, 0, WORDS * sizeof(int)), "cudaMemset");
    tests.push_back(test);
    cudaKernel_t kernel; // loaded before anything runs: loading waits for what runs
    cudaFuncAttributes attributes;
    check(cudaLibraryGetKernel(&kernel, library, test.name), test.name);
    check(cudaFuncGetAttributes(&attributes, (const void *)kernel), test.name);
  }
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  for (Test &test : tests)
    start(library, test);
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  for (Test &test : tests) {
    cudaError_t now = cudaStreamQuery(test.stream);
    if (now != cudaErrorNotReady)
      check(now, test.name);
    printf("%s,%s,", test.name, now == cudaSuccess ? "completed" : "hung");
    int words[SHOWN] = {0};
    if (now == cudaSuccess)
      check(cudaMemcpyAsync(words, test.words, sizeof words, cudaMemcpyDeviceToHost, test.stream), "cudaMemcpy");
    if (now == cudaSuccess)
      check(cudaStreamSynchronize(test.stream), "cudaStreamSynchronize");
    for (int i = 0; now == cudaSuccess && i < SHOWN; i++)
      printf("%s%d", i ? " " : "", words[i]);
    printf("\n");
  }
  fflush(stdout);
  _exit(0);
}
