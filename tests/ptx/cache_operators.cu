// Loads and stores under each cache operator, and prefetches.
extern "C" __global__ void cache_operators(int *p, const int4 *v, const int *__restrict__ r) {
  int s = __ldg(p) + __ldcg(p + 1) + __ldca(p + 2) + __ldcs(p + 3) + __ldlu(p + 4) + __ldcv(p + 5) + r[threadIdx.x];
  int4 four = __ldg(v);
  __stwb(p + 6, s);
  __stcg(p + 7, s);
  __stcs(p + 8, s + four.x + four.w);
  __stwt(p + 9, s);
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
  asm volatile("prefetch.L1 [%0];" ::"l"(p));
  asm volatile("ld.global.L1::no_allocate.b32 %0, [%1];" : "=r"(s) : "l"(p));
  p[10] = s;
}
