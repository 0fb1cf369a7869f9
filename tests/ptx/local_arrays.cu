// Arrays in local memory, which dynamic indices force.
__device__ __noinline__ int sum(const int *p, int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += p[i];
  return s;
}
extern "C" __global__ void local_arrays(int *data, int n) {
  int stack[64];
  char bytes[10];
  int top = 0;
  for (int i = 0; i < n; i++) {
    if (data[i] & 1)
      stack[top++ & 63] = data[i];
    else if (top > 0)
      data[i] = stack[--top & 63];
    bytes[i % 10] = (char)data[i];
  }
  data[n] = sum(stack, top) + bytes[top % 10];
}
