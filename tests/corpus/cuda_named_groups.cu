// Two pairs of warps, each of which meets at a barrier for two; the second pair comes later.
// PTX: make_ptx.sh cuda_named_groups.cu

// `apart`: 1 if the second pair has a barrier of its own, 0 if both meet at the same.
extern "C" __global__ void named_groups(int apart, int *out) {
  __shared__ int word[128];
  int thread = threadIdx.x, pair = thread / 64, number = 1 + pair * apart;
  word[thread] = 0;
  __syncthreads();
  if (pair)
    __nanosleep(2000);
  for (int round = 0; round < 3; round++) {
    word[thread] += thread;
    asm volatile("barrier.cta.sync.aligned %0, 64;" : : "r"(number) : "memory");
    int other = word[thread ^ 32];
    asm volatile("barrier.cta.sync.aligned %0, 64;" : : "r"(number) : "memory");
    out[thread] += other;
  }
}
