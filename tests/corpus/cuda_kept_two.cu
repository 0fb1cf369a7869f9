// Threads that take two of four locks, and give both back unless they get the second; each counts in the words that both guard. `kept`: the
// thread that keeps its second lock. PTX: traces/make_ptx.sh cuda_kept_two.cu
extern "C" __global__ void take_two(int *lock, int *count, int kept) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, first = threadIdx.x % 3, second = first + 1;
  bool done = false;
  for (unsigned ns = 16; !done; ns = min(2 * ns, 512u)) {
    if (atomicCAS(&lock[first], 0, 1) == 0) {
      if (atomicCAS(&lock[second], 0, 1) == 0) {
        __threadfence();
        count[first]++;
        count[second]++;
        __threadfence();
        done = true;
        if (thread != kept)
          atomicExch(&lock[second], 0);
      }
      atomicExch(&lock[first], 0);
    }
    if (!done)
      __nanosleep(ns);
  }
}
