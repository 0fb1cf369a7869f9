// Plain loads of machine code that race with nothing: ptxas makes them of operations that aren't plain. Checked alone, without PTX, by
// tests/script/machine_code.sh.
// Recorded: nvcc -lineinfo -cubin -arch=sm_80 -Xptxas -O0 -o looks.sm_80.cubin looks.cu; -arch=sm_90 without -Xptxas -O0;
// nvcc -G -cubin -arch=sm_86 -o looks.sm_86.cubin looks.cu
__device__ inline unsigned long long arrive(unsigned barrier) {
  unsigned long long token;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(barrier) : "memory");
  return token;
}

__device__ inline bool has_passed(unsigned barrier, unsigned long long token) {
  int passed;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
               : "=r"(passed)
               : "r"(barrier), "l"(token)
               : "memory");
  return passed;
}

// Before sm_90 a load of the barrier's word says which phase it is in.
extern "C" __global__ void phases(int *out) {
  __shared__ unsigned long long word;
  __shared__ int values[64];
  unsigned barrier = (unsigned)__cvta_generic_to_shared(&word);
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(blockDim.x) : "memory");
  __syncthreads();
  for (int i = 0; i < 3; i++) {
    values[threadIdx.x] = threadIdx.x * (i + 1);
    for (int half = 0; half < 2; half++) {
      unsigned long long token = arrive(barrier);
      while (!has_passed(barrier, token)) {
      }
      if (half == 0)
        out[threadIdx.x] += values[(threadIdx.x + 1) % 64];
    }
  }
}

// An atomic addition to a half loads the word and compares and swaps it, until nobody has come between.
extern "C" __global__ void halves(unsigned short *out) {
  unsigned short old;
  asm volatile("atom.global.add.noftz.f16 %0, [%1], %2;" : "=h"(old) : "l"(out + 1), "h"((unsigned short)0x3c00) : "memory");
}

// So does one to 64 bits of shared memory.
extern "C" __global__ void sums(int *out) {
  __shared__ unsigned long long sum;
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  atomicAdd(&sum, (unsigned long long)threadIdx.x << 30);
  __syncthreads();
  out[threadIdx.x] = (int)(sum >> 30);
}

// CUDA's own atomic addition to a bfloat16 of GPUs that have none loads the half at first, and compares and swaps the word.
extern "C" __global__ void counts(unsigned short *out) {
  unsigned short old = *out, seen;
  do {
    seen = old;
    old = atomicCAS(out, seen, (unsigned short)(seen + 3));
  } while (old != seen);
}

// The value decides more than that: it is stored, whatever the compare-and-swap says.
extern "C" __global__ void kept(unsigned short *out) {
  unsigned short old = *out;
  atomicCAS(out, old, (unsigned short)(old + 3));
  out[2 + 2 * (blockIdx.x * blockDim.x + threadIdx.x)] = old;
}
