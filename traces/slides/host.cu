// Slides, "CPU-GPU Synchronization": the numbers from 0 on, even ones by the CPU and odd ones by the GPU; with one
// kernel a step, and with a persistent kernel. The GPU also notes its numbers: log[0] counts them.
// PTX: make_ptx.sh host.cu
#include <stdio.h>

extern "C" __global__ void printk(int *counter, int *log) {
  ++*counter;
  printf("\t%d\n", *counter);
  log[++log[0]] = *counter;
}

// The counter has to be volatile: else nvcc reads it once. `late`: cycles between Line 4 and Line 5.
extern "C" __global__ void printk_persistent(volatile int *counter, int *log, int late) {
  do {
    while (*counter % 2 == 0)
      ;                         // Line 2
    printf("\t%d\n", *counter); // Line 3
    log[++log[0]] = *counter;
    *counter = *counter + 1; // Line 4
    for (long long start = clock64(); clock64() - start < late;)
      ;
  } while (*counter < 10); // Line 5
}
extern "C" __global__ void printk_persistent_plain(int *counter, int *log, int late) {
  do {
    while (*counter % 2 == 0)
      ;
    printf("\t%d\n", *counter);
    log[++log[0]] = *counter;
    ++*counter;
  } while (*counter < 10);
}
