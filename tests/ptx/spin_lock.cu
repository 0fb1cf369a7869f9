// A lock of atomicCAS and atomicExch, in the form that a CPU programmer writes and in the one that GPUs want.
__device__ int mutex_word = 0;
__device__ int counter;

extern "C" __global__ void lock_cpu(int rounds) {
  for (int i = 0; i < rounds; i++) {
    while (atomicCAS(&mutex_word, 0, 1) != 0) {
    }
    __threadfence();
    counter = counter + 1;
    __threadfence();
    atomicExch(&mutex_word, 0);
  }
}

extern "C" __global__ void lock_gpu(volatile int *total, int *lock) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *total = *total + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

extern "C" __global__ void lock_backoff(int *lock, int *total) {
  unsigned ns = 8;
  while (atomicCAS(lock, 0, 1) != 0) {
    __nanosleep(ns);
    if (ns < 256)
      ns *= 2;
  }
  *total += threadIdx.x;
  atomicExch_system(lock, 0);
}
