// A lock that somebody left taken, and counters that the waiting changes: nobody's exit depends on them.
extern "C" __global__ void rounds(int *lock) { // the block comes to barriers while its first thread tries
  __shared__ int done, tries;
  bool first = threadIdx.x == 0;
  if (first)
    tries = done = 0;
  __syncthreads();
  while (!done) {
    __syncthreads();
    if (first) {
      if (atomicCAS(lock, 0, 1) == 0)
        done = 1;
      else if (++tries > 25)
        tries = 0;
    }
    __syncthreads();
  }
}
extern "C" __global__ void wraps(int *lock) { // a counter in shared memory that starts again at 26
  __shared__ volatile int tries;
  tries = 0;
  while (atomicCAS(lock, 0, 1) != 0) {
    tries = tries + 1;
    if (tries > 25)
      tries = 0;
  }
  atomicExch(lock, 0);
}
extern "C" __global__ void counts(int *lock, int *tries) { // statistics in global memory, without bound
  while (atomicCAS(lock, 0, 1) != 0)
    atomicAdd(tries, 1);
  atomicExch(lock, 0);
}
