// Races between lanes of a warp that no barrier mends at the place of the access, since others have left by then.
// PTX: make_ptx.sh cuda_lane_trials.cu

// Lanes of half a warp leave a loop one after another, and each stores then. `apart`: where nobody counts any more.
extern "C" __global__ void trial_loop(int apart, int *out) {
  int value = threadIdx.x + 16;
  if (threadIdx.x < 16) {
    for (int i = 0; i < value; i++)
      value ^= atomicAdd(out + i, 1);
    out[apart + threadIdx.x] = value;
  }
}

// Half of each eight lanes reads what the other half has stored, and waits for all eight in its branch alone. `first`: all
// of them meet before it.
extern "C" __global__ void trial_tile(int first, int *out) {
  __shared__ int word[32];
  unsigned mask = 0xffu << (threadIdx.x & 24);
  word[threadIdx.x] = threadIdx.x;
  if (first)
    __syncwarp(mask);
  if (threadIdx.x % 8 < 4) {
    if (!first)
      __syncwarp(mask);
    out[threadIdx.x] = word[threadIdx.x + 4];
  } else {
    out[threadIdx.x] = 0;
  }
}
