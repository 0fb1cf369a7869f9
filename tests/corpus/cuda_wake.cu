// One block sleeps until another one has put something into a list, and is woken by a word.
// PTX: make_ptx.sh cuda_wake.cu

// `early`: the sleeper takes the signal and looks at it by one operation; else it puts it away once it has found nothing.
extern "C" __global__ void wake(int early, int *items, int *signal, int *out) {
  if (threadIdx.x != 0)
    return;
  if (blockIdx.x == 0) {
    for (int i = 0; i < 4; i++) {
      atomicAdd(items, 1);
      __threadfence();
      atomicExch(signal, 1);
    }
    return;
  }
  for (int got = 0; got < 4;) {
    if (atomicAdd(items, 0) > 0) {
      atomicSub(items, 1);
      *out = ++got;
      continue;
    }
    if (early) {
      while (atomicExch(signal, 0) == 0) {
      }
    } else {
      atomicExch(signal, 0);
      while (atomicAdd(signal, 0) == 0) {
      }
    }
  }
}
