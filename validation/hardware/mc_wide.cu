// Products of 64 bits and high words, the integer arithmetic of addresses and of divisions: alone, and with instructions of another unit
// behind each.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mc_wide mc_wide.cu; -cubin, -ptx for the files beside it
#include "mc.cuh"

// Chains: each product needs the one before it.
#define HIGH(x) asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(x) : "r"(y));
#define HIGH_SIGNED(x) asm volatile("mul.hi.s32 %0, %0, %1;" : "+r"(x) : "r"(y));
#define WIDE(x) asm volatile("{.reg .u64 w; .reg .u32 l, h; mad.wide.u32 w, %0, %1, %2; mov.b64 {l, h}, w; xor.b32 %0, l, h;}" : "+r"(x) : "r"(y), "l"(w));
#define WIDE_SIGNED(x) asm volatile("{.reg .u64 w; .reg .u32 l, h; mad.wide.s32 w, %0, %1, %2; mov.b64 {l, h}, w; xor.b32 %0, l, h;}" : "+r"(x) : "r"(y), "l"(w));
#define WIDE_4(x) asm volatile("{.reg .u64 w; .reg .u32 l, h; mad.wide.u32 w, %0, 4, %2; mov.b64 {l, h}, w; xor.b32 %0, l, h;}" : "+r"(x) : "r"(y), "l"(w));
#define WIDE_20(x) asm volatile("{.reg .u64 w; .reg .u32 l, h; mad.wide.u32 w, %0, 20, %2; mov.b64 {l, h}, w; xor.b32 %0, l, h;}" : "+r"(x) : "r"(y), "l"(w));
#define LOW(x) asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(y), "r"(z));
#define LOGIC(x) asm volatile("lop3.b32 %0, %0, %1, %2, 0x6a;" : "+r"(x) : "r"(y), "r"(z));
#define BEFORE                                                                                                         \
  unsigned a[4] = {x, x + 1, x + 2, x + 3}, g[4] = {x + 4, x + 5, x + 6, x + 7};                                       \
  unsigned long long w = (unsigned long long)y << 32 | z
#define AT_THE_END                                                                                                     \
  if (i == n - 1)                                                                                                      \
    for (int k = 0; k < 4; k++)                                                                                        \
      x += a[k] + g[k];
#define ONE(step) REP16(step(0))
#define FOUR(step) REP4(step(0) step(1) step(2) step(3))
#define WIDE_ROWS(name, ...) ROUNDS(name, WARPS_ALL, {64}, BEFORE, __VA_ARGS__ AT_THE_END)

#define S_HIGH(k) HIGH(a[k])
#define S_SIGNED(k) HIGH_SIGNED(a[k])
#define S_HIGH_LOGIC(k) HIGH(a[k]) LOGIC(g[k])
#define S_HIGH_LOGIC_2(k) HIGH(a[k]) LOGIC(g[k]) LOGIC(g[(k + 1) % 4])
#define S_HIGH_LOGIC_4(k) HIGH(a[k]) LOGIC(g[k]) LOGIC(g[(k + 1) % 4]) LOGIC(g[(k + 2) % 4]) LOGIC(g[(k + 3) % 4])
#define S_HIGH_LOW(k) HIGH(a[k]) LOW(g[k])
#define S_WIDE(k) WIDE(a[k])
#define S_WIDE_SIGNED(k) WIDE_SIGNED(a[k])
#define S_WIDE_4(k) WIDE_4(a[k])
#define S_WIDE_20(k) WIDE_20(a[k])
#define S_WIDE_LOGIC(k) WIDE(a[k]) LOGIC(g[k])
#define S_WIDE_LOGIC_2(k) WIDE(a[k]) LOGIC(g[k]) LOGIC(g[(k + 1) % 4])
#define S_WIDE_LOGIC_4(k) WIDE(a[k]) LOGIC(g[k]) LOGIC(g[(k + 1) % 4]) LOGIC(g[(k + 2) % 4]) LOGIC(g[(k + 3) % 4])
#define S_WIDE_4_LOGIC(k) WIDE_4(a[k]) LOGIC(g[k])
#define S_WIDE_LOW(k) WIDE(a[k]) LOW(g[k])
#define S_LOW_LOGIC(k) LOW(a[k]) LOGIC(g[k])
#define S_DIVIDE(k) asm volatile("div.u32 %0, %0, %1; add.u32 %0, %0, 1000003;" : "+r"(a[k]) : "r"(y));
#define S_MODULO(k) asm volatile("rem.u32 %0, %0, %1; add.u32 %0, %0, 1000003;" : "+r"(a[k]) : "r"(y));
#define S_SIGNED_DIVIDE(k) asm volatile("div.s32 %0, %0, %1; add.u32 %0, %0, 1000003;" : "+r"(a[k]) : "r"(y));
#define BOTH(name, step) WIDE_ROWS(name##_d, ONE(step)) WIDE_ROWS(name##_i, FOUR(step))

BOTH(high, S_HIGH)
BOTH(high_signed, S_SIGNED)
BOTH(high_logic, S_HIGH_LOGIC)
BOTH(high_logic_2, S_HIGH_LOGIC_2)
BOTH(high_logic_4, S_HIGH_LOGIC_4)
BOTH(high_low, S_HIGH_LOW)
BOTH(wide, S_WIDE)
BOTH(wide_signed, S_WIDE_SIGNED)
BOTH(wide_4, S_WIDE_4)
BOTH(wide_20, S_WIDE_20)
BOTH(wide_logic, S_WIDE_LOGIC)
BOTH(wide_logic_2, S_WIDE_LOGIC_2)
BOTH(wide_logic_4, S_WIDE_LOGIC_4)
BOTH(wide_4_logic, S_WIDE_4_LOGIC)
BOTH(wide_low, S_WIDE_LOW)
BOTH(low_logic, S_LOW_LOGIC)
BOTH(divide, S_DIVIDE)
BOTH(modulo, S_MODULO)
WIDE_ROWS(signed_divide_d, ONE(S_SIGNED_DIVIDE))
