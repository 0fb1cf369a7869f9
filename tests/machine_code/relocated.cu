__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ int words[4];
extern "C" __global__ void relocated(int *out) {
  int (*volatile function)(int) = twice;
  out[0] = function(words[1]);
}
