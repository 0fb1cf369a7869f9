// Pointers whose space only the hardware knows.
__device__ __noinline__ int read_any(const int *p) { return *p + 1; }
__device__ __noinline__ void bump_any(int *p) { atomicAdd(p, 2); }
extern "C" __global__ void generic(int *g, int choose) {
  __shared__ int s[4];
  int local[4] = {1, 2, 3, choose};
  s[threadIdx.x & 3] = choose;
  __syncthreads();
  int *p = choose > 2 ? g : choose > 1 ? s : local;
  bump_any(p + (choose & 1));
  g[1] = read_any(p) + __isShared(p) + __isGlobal(p) + __isLocal(p) + __isConstant(p);
  g[2] = (int)__cvta_generic_to_shared(s);
}
