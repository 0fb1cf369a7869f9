// Calls through pointers, virtual functions, recursion, frames on the stack and jump tables: out[t] of in[t], as tests/unit/test_mc_kernels.c
// computes it on a CPU. Recorded: for sm in 75 86 90: nvcc -cubin -arch=sm_$sm -o pointers.sm_$sm.cubin pointers.cu; and pointers_linked, with
// functions in sections of their own: nvcc -rdc=true -lineinfo -cubin -arch=sm_$sm -o object.cubin pointers.cu;
// nvlink -arch=sm_$sm -o pointers_linked.sm_$sm.cubin object.cubin
typedef int (*Op)(int, int);

__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int affine(int a, int b) { return a * b + 1; }
__device__ __noinline__ int subtract(int a, int b) { return a - b; }
__device__ Op table[3] = {add, affine, subtract};
__constant__ Op constants[3] = {subtract, affine, add};

extern "C" __global__ void by_table(int *out, const int *in) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, which = (in[t] & 255) % 3;
  out[t] = 3 * table[which](t, 7) + constants[which](t, 3);
}

struct Shape {
  __device__ virtual int area(int k) const = 0;
  __device__ virtual int edges() const { return 0; }
};
struct Square : Shape {
  int side;
  __device__ explicit Square(int s) : side(s) {}
  __device__ int area(int k) const override { return side * side * k; }
  __device__ int edges() const override { return 4; }
};
struct Rectangle : Shape {
  int a, b;
  __device__ Rectangle(int x, int y) : a(x), b(y) {}
  __device__ int area(int k) const override { return a * b + k; }
};

extern "C" __global__ void virtuals(int *out, const int *in) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, value = in[t] & 255;
  Square square(t);
  Rectangle rectangle(t, 5);
  const Shape *shape = value & 1 ? (const Shape *)&square : (const Shape *)&rectangle;
  out[t] = shape->area(value) + 1000 * shape->edges();
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" __global__ void recursion(int *out, const int *in) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  out[t] = fibonacci((in[t] & 255) % 9);
}

__device__ int ackermann(int m, int n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void nested(int *out, const int *in) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  out[t] = ackermann((in[t] & 255) % 3, t % 5);
}

struct Many {
  int value[24];
};

__device__ __noinline__ Many make(int seed) {
  Many many;
  for (int i = 0; i < 24; i++)
    many.value[i] = seed * (i + 3);
  return many;
}

__device__ __noinline__ int total(Many many, int k) {
  int sum = 0;
  for (int i = 0; i < 24; i++)
    sum += many.value[i * k % 24] * (i + 1);
  return sum;
}

extern "C" __global__ void frames(int *out, const int *in) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, value = in[t] & 255;
  Many many = make(value);
  many.value[value % 24] += t;
  out[t] = total(many, value % 7);
}

extern "C" __global__ void switches(int *out, const int *in) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, value = in[t] & 255, r = t;
  for (int i = 0; i < 3; i++)
    switch ((value + i) % 12) {
    case 0: r += t * 3; break;
    case 1: r ^= 55; break;
    case 2: r = r * 7 + 1; break;
    case 3: r -= value; break;
    case 4: r += value * value; break;
    case 5: r = ~r; break;
    case 6: r = r * 4; break;
    case 7: r ^= t; break;
    case 8: r += 17; break;
    case 9: r = r / 3; break;
    case 10: r = -r; break;
    default: r++;
    }
  out[t] = r;
}
