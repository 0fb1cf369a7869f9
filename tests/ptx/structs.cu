// Kernel parameters of every kind: scalars, by-value structs, arrays in structs, aligned ones, none at all.
struct __align__(16) Aligned {
  float4 v;
  int n;
};
struct Inner {
  char c;
  short s;
  int i[3];
};
struct Outer {
  Inner inner[2];
  unsigned long long l;
  double d;
};
struct Empty {};

extern "C" __global__ void structs(Outer outer, Aligned aligned, Empty empty, char c, unsigned char uc, short s, unsigned short us,
                                   int i, unsigned u, long long l, float f, double d, bool b, int *p, int2 pair, const float4 *in,
                                   float4 *out) {
  int t = threadIdx.x;
  p[t] = outer.inner[t & 1].i[t % 3] + outer.inner[1].c + aligned.n + c + uc + s + us + i + u + (int)l + b + pair.x + pair.y;
  float4 v = in[t];
  v.x += aligned.v.x + f;
  v.w += (float)(outer.d + d);
  out[t] = v;
  *(int2 *)(p + 64) = make_int2(pair.y, pair.x);
  *(double2 *)(p + 128) = make_double2(d, d);
  *(uchar4 *)(p + 256) = make_uchar4(c, uc, 1, 2);
  *(ushort2 *)(p + 260) = make_ushort2(us, 3);
}

extern "C" __global__ void nothing() {}
