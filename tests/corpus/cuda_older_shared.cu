// A flag in shared memory, behind another word there that is volatile, too, with nothing between the two: who has seen the flag may find the word as it was
// before. `waits`: it does, and then looks again, so that nothing comes of it.
// PTX: traces/make_ptx.sh cuda_older_shared.cu
extern "C" __global__ void shared_flag(int *out, int waits) {
  __shared__ volatile int ready, flag;
  if (threadIdx.x == 0)
    ready = flag = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    ready = 5;
    flag = 1;
  }
  if (threadIdx.x)
    return;
  while (!flag)
    ;
  int found = ready;
  while (waits && found != 5)
    found = ready;
  *out = found;
}
