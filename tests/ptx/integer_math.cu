// Integer arithmetic and bit work of each width.
typedef unsigned long long u64;
extern "C" __global__ void integers(int *i, unsigned *u, long long *l, u64 *w, short *s, unsigned char *c) {
  int a = i[0], b = i[1];
  unsigned x = u[0], y = u[1];
  long long p = l[0], q = l[1];
  u64 v = w[0], z = w[1];
  i[2] = a / b + a % b + min(a, b) + max(a, b) + abs(a) + __mulhi(a, b) + __mul24(a, b) + (a >> 3) + ~b - (a < b) + __sad(a, b, x);
  u[2] = x / y + x % y + umin(x, y) + __umulhi(x, y) + (x >> (y & 31)) + (x << 5) + __byte_perm(x, y, 0x5410) + x / 10 + x % 7;
  u[3] = __funnelshift_l(x, y, 7) + __funnelshift_r(x, y, a) + __popc(x) + __clz(y) + __brev(x) + __ffs(y) + ((x & y) ^ ~(x | a));
  l[2] = p * q + p / q + p % q + __mul64hi(p, q) + llabs(p) + (p >> 9) + (p << (a & 63)) + (long long)a * b + min(p, q);
  w[2] = v * z + v / z + v % z + __umul64hi(v, z) + (v >> 5) + (u64)x * y + __popcll(v) + __clzll(z) + __brevll(v) + __ffsll(z) + max(v, z);
  w[3] = v + z + (v < z) + (v == z ? 1 : x) + ((v ^ z) & ~v);
  s[2] = s[0] * s[1] + (short)(s[0] >> 2);
  c[2] = c[0] + c[1] * 3 - (c[0] / (c[1] | 1)) + ((signed char *)c)[3];
  i[3] = ((x >> 7) & 0x1f) + ((a << 9) >> 20) + __vaddss2(a, b) + __dp4a(a, b, a);
}

extern "C" __global__ void carries(unsigned *p) {
  unsigned lo, hi;
  asm volatile("add.cc.u32 %0, %2, %3;\n\taddc.u32 %1, %4, 0;" : "=r"(lo), "=r"(hi) : "r"(p[0]), "r"(p[1]), "r"(p[2]));
  p[3] = lo;
  p[4] = hi;
  asm volatile("sub.cc.u32 %0, %2, %3;\n\tsubc.cc.u32 %1, %4, 1;\n\tmad.lo.cc.u32 %0, %2, %3, %0;\n\tmadc.hi.u32 %1, %2, %3, %1;"
               : "=r"(lo), "=r"(hi) : "r"(p[0]), "r"(p[1]), "r"(p[2]));
  p[5] = lo + hi;
}
