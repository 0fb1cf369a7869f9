// A fence between two words that each thread counts up, or none: what __threadfence() takes in a program is the difference.
// Burtchell and Burtscher, "Characterizing CUDA and OpenMP Synchronization Primitives" (IISWC 2024), measure it so: 640 to 715 cycles a
// fence on a RTX 2070 Super, 680 to 790 on an A100 (the results beside their program, one block of up to 32 threads). The loads behind a
// fence miss the L1, which the fence has emptied, so that two ways to the L2 are among those cycles.
// PTX: make_ptx.sh fence_loop.cu
enum { AT_ONCE = 10 };

template <bool FENCE> static __device__ __forceinline__ void count_up(unsigned *one, unsigned *other, int rounds) {
#pragma unroll 1
  do {
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
      *one += 1;
      if (FENCE)
        __threadfence();
      *other += 1;
    }
  } while ((rounds -= AT_ONCE) > 0);
}

extern "C" __global__ void fence_loop(unsigned *ones, unsigned *others, int step, int rounds, int fence) {
  int word = step * (blockIdx.x * blockDim.x + threadIdx.x);
  if (fence)
    count_up<true>(ones + word, others + word, rounds);
  else
    count_up<false>(ones + word, others + word, rounds);
}
