// f64 and f32 arithmetic, the functions of the mathematical library, and conversions between all types.
#include <math.h>
extern "C" __global__ void doubles(double *d, float *f, int *i) {
  double x = d[0], y = d[1];
  d[2] = x * y + x / y - sqrt(x) + fma(x, y, 3.5);
  d[3] = fmin(x, y) + fmax(x, y) + fabs(x) - floor(y) + ceil(x) + trunc(x) + rint(y);
  d[4] = exp(x) + log(y) + sin(x) + pow(x, y);
  d[5] = x > y ? 1.0 : (x != x ? -1.0 : rsqrt(y));
  d[6] = __dadd_rz(x, y) + __dmul_ru(x, y) + __ddiv_rd(x, y) + __fma_rn(x, y, x) + __drcp_rn(x) + __dsqrt_rn(x);
  float a = f[0], b = f[1];
  f[2] = a / b + sqrtf(a) + fmaf(a, b, 1.0f) + __fdividef(a, b) + __sinf(a) + __cosf(b) + __expf(a) + __logf(b);
  f[3] = rsqrtf(a) + __frcp_rn(b) + tanhf(a) + copysignf(a, b) + __saturatef(a) + expf(a) + fmodf(a, b) + truncf(b) + rintf(a);
  f[4] = __fadd_rd(a, b) + __fmul_rz(a, b) + __fsqrt_ru(a) + __fdiv_rn(a, b) + fminf(a, b) + fmaxf(fabsf(a), -b);
  f[5] = isnan(a) || isinf(b) || signbit(a) ? 0x1p-20f : 1e30f;
  i[0] = (int)a + (unsigned)b + (int)x + (unsigned char)b + (short)x + __float_as_int(a) + __double2hiint(x);
  i[1] = __float2int_rn(a) + __float2int_ru(a) + __double2int_rd(x) + __float2uint_rz(b);
  ((long long *)i)[1] = (long long)x + (unsigned long long)a + __double_as_longlong(y);
  f[6] = (float)i[0] + (float)(unsigned)i[1] + (float)((long long *)i)[1] + (float)x + (float)(char)i[2];
  d[7] = (double)i[0] + (double)a + (double)(unsigned long long)i[3];
}
