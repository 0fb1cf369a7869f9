// Functions that stay functions: by name, recursive, with struct parameters and results, and through pointers.
struct Vec {
  float x, y, z;
};
struct Big {
  int a[5];
  char c;
  double d;
};

__device__ __noinline__ int add_one(int v) { return v + 1; }
__device__ __noinline__ Vec cross(Vec a, Vec b) {
  Vec r = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
  return r;
}
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ __noinline__ void store(int *p, Big big, short s, bool b) { *p = big.a[threadIdx.x % 5] + big.c + s + b + (int)big.d; }
__device__ __noinline__ float half_of(float v) { return v * 0.5f; }
__device__ __noinline__ float twice(float v) { return v * 2.0f; }
__device__ __noinline__ double mixed(double d, long long l, unsigned char c) { return d + (double)l + c; }

extern "C" __global__ void calls(int *out, Vec a, Vec b, Big big, float *f, int which) {
  float (*table[2])(float) = {half_of, twice};
  out[0] = add_one(out[1]) + fib(threadIdx.x);
  Vec c = cross(a, b);
  f[0] = c.x + c.y + c.z + table[which](f[1]);
  f[2] = (float)mixed(f[3], out[2], (unsigned char)which);
  store(out + 3, big, (short)which, which > 2);
}
