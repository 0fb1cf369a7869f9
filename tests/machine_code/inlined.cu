__device__ __forceinline__ int inner(int x, int *p) {
  p[1] = x * 7;
  return p[2] + 1;
}
__device__ __forceinline__ int middle(int x, int *p) {
  int y = inner(x, p);
  return y * inner(y, p + 8);
}
extern "C" __global__ void k(int *o, int i) {
  o[0] = middle(i, o + 100);
}
