// Each atomic of CUDA, on global, shared and generic addresses, with and without a use of its result.
typedef unsigned long long u64;

extern "C" __global__ void atomics_u32(unsigned *g, unsigned *out, unsigned v) {
  unsigned s = 0;
  s += atomicAdd(g, v);
  s += atomicSub(g + 1, v);
  s += atomicExch(g + 2, v);
  s += atomicMin(g + 3, v);
  s += atomicMax(g + 4, v);
  s += atomicInc(g + 5, v);
  s += atomicDec(g + 6, v);
  s += atomicCAS(g + 7, v, v + 1);
  s += atomicAnd(g + 8, v);
  s += atomicOr(g + 9, v);
  s += atomicXor(g + 10, v);
  atomicAdd(g + 11, v);
  atomicMin((int *)g + 12, (int)v);
  atomicMax((int *)g + 13, (int)v);
  out[threadIdx.x] = s;
}

extern "C" __global__ void atomics_u64(u64 *g, u64 *out, u64 v) {
  u64 s = atomicAdd(g, v);
  s += atomicExch(g + 1, v);
  s += atomicMin(g + 2, v);
  s += atomicMax((long long *)g + 3, (long long)v);
  s += atomicCAS(g + 4, v, v + 1);
  s += atomicAnd(g + 5, v);
  s += atomicOr_block(g + 6, v);
  s += atomicXor_system(g + 7, v);
  out[threadIdx.x] = s;
}

extern "C" __global__ void atomics_float(float *f, double *d, float v) {
  f[1] = atomicAdd(f, v);
  d[1] = atomicAdd(d, (double)v);
  atomicAdd(f + 2, v);
  atomicExch(f + 3, v);
}

extern "C" __global__ void atomics_shared(unsigned *out) {
  __shared__ unsigned bins[32];
  __shared__ u64 wide;
  bins[threadIdx.x % 32] = 0;
  if (threadIdx.x == 0)
    wide = 0;
  __syncthreads();
  atomicAdd(&bins[threadIdx.x & 7], 1u);
  atomicInc(&bins[8], 5u);
  atomicCAS(&bins[9], 0u, threadIdx.x);
  atomicAdd(&wide, (u64)threadIdx.x);
  atomicAdd_block(&bins[10], 2u);
  __syncthreads();
  out[threadIdx.x] = bins[threadIdx.x % 32] + (unsigned)wide;
}

extern "C" __global__ void atomics_16(unsigned short *p) {
  p[1] = atomicCAS(p, (unsigned short)1, (unsigned short)2);
}
