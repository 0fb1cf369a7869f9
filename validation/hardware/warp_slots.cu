// Which slots the warps of a block get (%warpid), of several blocks of an SM: a warp's scheduler is its slot mod 4. Then how long the first warps of all blocks take
// when they alone work: those of one scheduler share it.
// Build: nvcc -O2 -arch=sm_90 -o warp_slots warp_slots.cu
// Run:   ./warp_slots > warp_slots.csv
// A row: threads of a block, blocks of the SM, the slots of their warps (a block behind the other), cycles of an operation of a first warp.
#include "hardware.cuh"

enum { SMS_MAX = 1024, BLOCKS_MAX = 8 * SMS_MAX, WARPS = 32, STARTED = 20000, ROUNDS = 100, OPERATIONS = 64 };

__global__ void slots(unsigned *found, unsigned *where, unsigned long long *took, float *kept) {
  unsigned sm, warp;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  if (threadIdx.x % 32 == 0)
    found[blockIdx.x * WARPS + threadIdx.x / 32] = warp;
  if (threadIdx.x == 0)
    where[blockIdx.x] = sm;
  long long start = clock64();
  while (clock64() - start < STARTED) // all are there
    ;
  if (threadIdx.x >= 32)
    return;
  float a = threadIdx.x, b = 1, c = 2, d = 3;
  start = clock64();
  for (int i = 0; i < ROUNDS; i++) {
#pragma unroll
    for (int j = 0; j < OPERATIONS / 4; j++) {
      a = a * 1.1f + 1;
      b = b * 1.1f + 1;
      c = c * 1.1f + 1;
      d = d * 1.1f + 1;
    }
  }
  long long end = clock64();
  if (a + b + c + d == 12345)
    *kept = a;
  if (threadIdx.x == 0)
    atomicAdd(took, (unsigned long long)(end - start));
}

int main() {
  static unsigned found[BLOCKS_MAX * WARPS], where[BLOCKS_MAX];
  unsigned *device_found, *device_where;
  unsigned long long *device_took, took;
  float *kept;
  int sms;
  check_cuda(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "cudaDeviceGetAttribute");
  check_cuda(cudaMalloc(&device_found, sizeof found), "cudaMalloc");
  check_cuda(cudaMalloc(&device_where, sizeof where), "cudaMalloc");
  check_cuda(cudaMalloc(&device_took, sizeof took), "cudaMalloc");
  check_cuda(cudaMalloc(&kept, sizeof *kept), "cudaMalloc");
  printf("threads,blocks,slots,cycles\n");
  for (int threads : {32, 64, 96, 128, 160, 224, 256, 384, 512, 1024})
    for (int each : {1, 2, 3, 4, 8}) {
      int blocks = sms * each;
      if (threads * each > 2048)
        continue;
      check_cuda(cudaMemset(device_took, 0, sizeof took), "cudaMemset");
      slots<<<blocks, threads>>>(device_found, device_where, device_took, kept);
      finish("slots");
      check_cuda(cudaMemcpy(found, device_found, sizeof found, cudaMemcpyDeviceToHost), "cudaMemcpy");
      check_cuda(cudaMemcpy(where, device_where, sizeof where, cudaMemcpyDeviceToHost), "cudaMemcpy");
      check_cuda(cudaMemcpy(&took, device_took, sizeof took, cudaMemcpyDeviceToHost), "cudaMemcpy");
      printf("%d,%d,", threads, each);
      for (int block = 0; block < blocks; block++)
        for (int warp = 0; where[block] == where[0] && warp < threads / 32; warp++)
          printf("%u%s", found[block * WARPS + warp], warp + 1 < threads / 32 ? " " : "; ");
      printf(",%.3f\n", (double)took / blocks / ROUNDS / OPERATIONS);
    }
  return 0;
}
