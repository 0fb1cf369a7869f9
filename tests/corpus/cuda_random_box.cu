// Blocks look into mailboxes by chance. The last block posts into one, or exits before it does.
__device__ __forceinline__ unsigned next(unsigned &seed) {
  seed = seed * 1664525u + 1013904223u;
  return seed >> 16;
}
// A power of two: the number is masked.
extern "C" __global__ void masked(volatile int *boxes, int *out, int posts) {
  unsigned seed = blockIdx.x;
  int mail;
  if (blockIdx.x == gridDim.x - 1) {
    if (posts)
      boxes[5] = 7;
    return;
  }
  while (!(mail = boxes[next(seed) & 7]))
    ;
  out[blockIdx.x] = mail;
}
// Any number of boxes, and signed, as rand() is.
extern "C" __global__ void modulo(volatile int *boxes, int *out, int posts, int count) {
  unsigned seed = blockIdx.x;
  int mail;
  if (blockIdx.x == gridDim.x - 1) {
    if (posts)
      boxes[5] = 7;
    return;
  }
  while (!(mail = boxes[(int)next(seed) % count]))
    ;
  out[blockIdx.x] = mail;
}
// A number of 64 bits, masked as one.
extern "C" __global__ void wide(volatile int *boxes, int *out, int posts) {
  unsigned long long seed = blockIdx.x;
  int mail;
  if (blockIdx.x == gridDim.x - 1) {
    if (posts)
      boxes[5] = 7;
    return;
  }
  do
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
  while (!(mail = boxes[(seed >> 33) & 7]));
  out[blockIdx.x] = mail;
}
