// Arithmetic by pipe: dependent (_d: a chain) and independent (_i: four chains side by side), one to 32 warps.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -lineinfo -o mc_alu mc_alu.cu; -cubin, -ptx for the files beside it
#include "mc.cuh"

#define CHAINS(name, type, first, step)                                                                               \
  BENCH(name##_d, WARPS_ALL, {64}) {                                                                                  \
    unsigned lane = threadIdx.x % 32, u = lane & zero, v = u + 3, w = u * lane + 7;                                    \
    type a = first(u), y = first(v), z = first(w);                                                                    \
    __syncthreads();                                                                                                  \
    unsigned start = clock_now();                                                                                     \
    _Pragma("unroll 1") for (unsigned i = 0; i < n; i++) { REP16(step(a)) }                                            \
    end_row(took, start, (unsigned)a + (unsigned)(y + z));                                                            \
  }                                                                                                                   \
  BENCH(name##_i, WARPS_ALL, {64}) {                                                                                  \
    unsigned lane = threadIdx.x % 32, u = lane & zero, v = u + 3, w = u * lane + 7;                                    \
    type a = first(u), b = first(u + lane), c = first(u * 3), d = first(u - lane), y = first(v), z = first(w);        \
    __syncthreads();                                                                                                  \
    unsigned start = clock_now();                                                                                     \
    _Pragma("unroll 1") for (unsigned i = 0; i < n; i++) { REP4(step(a) step(b) step(c) step(d)) }                     \
    end_row(took, start, (unsigned)a + (unsigned)b + (unsigned)c + (unsigned)d + (unsigned)(y + z));                  \
  }

#define WORD(u) (u)
#define STEP_ADD(x) asm volatile("add.u32 %0, %0, %1; xor.b32 %0, %0, %2;" : "+r"(x) : "r"(y), "r"(z));
#define STEP_LOP(x) asm volatile("lop3.b32 %0, %0, %1, %2, 0x6a;" : "+r"(x) : "r"(y), "r"(z));
#define STEP_SHIFT(x) asm volatile("shf.l.wrap.b32 %0, %0, %1, %2;" : "+r"(x) : "r"(y), "r"(z));
#define STEP_MAD(x) asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(y), "r"(z));
#define STEP_HIGH(x) asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(x) : "r"(y));
#define STEP_SELECT(x)                                                                                                \
  asm volatile("{.reg .pred p; setp.lt.u32 p, %0, %1; selp.u32 %0, %2, %0, p;}" : "+r"(x) : "r"(y), "r"(z));
#define STEP_PERMUTE(x) asm volatile("prmt.b32 %0, %0, %1, %2;" : "+r"(x) : "r"(y), "r"(z));
#define STEP_POPC(x) asm volatile("popc.b32 %0, %0;" : "+r"(x));
#define STEP_FLO(x) asm volatile("bfind.u32 %0, %0;" : "+r"(x));
#define STEP_BREV(x) asm volatile("brev.b32 %0, %0;" : "+r"(x));
#define STEP_MAX(x) asm volatile("max.u32 %0, %0, %1; min.u32 %0, %0, %2;" : "+r"(x) : "r"(y), "r"(z));
#define STEP_LEA(x) asm volatile("{.reg .u32 t; shl.b32 t, %0, 2; add.u32 %0, t, %1;}" : "+r"(x) : "r"(y));
#define STEP_CARRY(x)                                                                                                 \
  asm volatile("add.cc.u32 %0, %0, %1; addc.u32 %0, %0, %2;" : "+r"(x) : "r"(y), "r"(z));
#define STEP_ABS(x) asm volatile("{.reg .s32 t; abs.s32 t, %0; sub.s32 %0, t, %1;}" : "+r"(x) : "r"(y));
CHAINS(add_xor, unsigned, WORD, STEP_ADD)
CHAINS(lop3, unsigned, WORD, STEP_LOP)
CHAINS(shift, unsigned, WORD, STEP_SHIFT)
CHAINS(imad, unsigned, WORD, STEP_MAD)
CHAINS(imad_hi, unsigned, WORD, STEP_HIGH)
CHAINS(setp_selp, unsigned, WORD, STEP_SELECT)
CHAINS(prmt, unsigned, WORD, STEP_PERMUTE)
CHAINS(popc, unsigned, WORD, STEP_POPC)
CHAINS(flo, unsigned, WORD, STEP_FLO)
CHAINS(brev, unsigned, WORD, STEP_BREV)
CHAINS(min_max, unsigned, WORD, STEP_MAX)
CHAINS(lea, unsigned, WORD, STEP_LEA)
CHAINS(carry, unsigned, WORD, STEP_CARRY)
CHAINS(abs_sub, unsigned, WORD, STEP_ABS)

#define WIDE(u) ((unsigned long long)(u) << 3 | 1)
#define STEP_WIDE(x) asm volatile("{.reg .u32 l; cvt.u32.u64 l, %0; mad.wide.u32 %0, l, 5, %1;}" : "+l"(x) : "l"(y));
#define STEP_ADD64(x) asm volatile("add.u64 %0, %0, %1; xor.b64 %0, %0, %2;" : "+l"(x) : "l"(y), "l"(z));
CHAINS(imad_wide, unsigned long long, WIDE, STEP_WIDE)
CHAINS(add64, unsigned long long, WIDE, STEP_ADD64)

#define REAL(u) ((float)(u) + 1.5f)
#define STEP_FADD(x) asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(y));
#define STEP_FMUL(x) asm volatile("mul.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(y));
#define STEP_FMA(x) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(y), "f"(z));
#define STEP_FMAX(x) asm volatile("max.f32 %0, %0, %1; min.f32 %0, %0, %2;" : "+f"(x) : "f"(y), "f"(z));
#define STEP_FSETP(x)                                                                                                 \
  asm volatile("{.reg .pred p; setp.lt.f32 p, %0, %1; selp.f32 %0, %2, %0, p;}" : "+f"(x) : "f"(y), "f"(z));
#define STEP_EX2(x) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
#define STEP_RCP(x) asm volatile("rcp.approx.ftz.f32 %0, %0;" : "+f"(x));
#define STEP_ROUND(x) asm volatile("{.reg .s32 t; cvt.rni.s32.f32 t, %0; cvt.rn.f32.s32 %0, t;}" : "+f"(x));
#define STEP_FRND(x) asm volatile("cvt.rni.f32.f32 %0, %0;" : "+f"(x));
CHAINS(fadd, float, REAL, STEP_FADD)
CHAINS(fmul, float, REAL, STEP_FMUL)
CHAINS(ffma, float, REAL, STEP_FMA)
CHAINS(fmin_fmax, float, REAL, STEP_FMAX)
CHAINS(fsetp, float, REAL, STEP_FSETP)
CHAINS(ex2, float, REAL, STEP_EX2)
CHAINS(rcp, float, REAL, STEP_RCP)
CHAINS(f2i_i2f, float, REAL, STEP_ROUND)
CHAINS(frnd, float, REAL, STEP_FRND)

#define DOUBLE(u) ((double)(u) + 1.5)
#define STEP_DADD(x) asm volatile("add.rn.f64 %0, %0, %1;" : "+d"(x) : "d"(y));
#define STEP_DFMA(x) asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(x) : "d"(y), "d"(z));
#define STEP_DSETP(x)                                                                                                 \
  asm volatile("{.reg .pred p; setp.lt.f64 p, %0, %1; selp.f64 %0, %2, %0, p;}" : "+d"(x) : "d"(y), "d"(z));
#define STEP_F2F(x) asm volatile("{.reg .f32 t; cvt.rn.f32.f64 t, %0; cvt.f64.f32 %0, t;}" : "+d"(x));
CHAINS(dadd, double, DOUBLE, STEP_DADD)
CHAINS(dfma, double, DOUBLE, STEP_DFMA)
CHAINS(dsetp, double, DOUBLE, STEP_DSETP)
CHAINS(f2f, double, DOUBLE, STEP_F2F)

// Several pipes at once: four chains, each on its own kind of instruction.
#define MIXED(name, step_a, step_b, step_c, step_d)                                                                   \
  BENCH(name, WARPS_ALL, {64}) {                                                                                      \
    unsigned lane = threadIdx.x % 32, u = lane & zero, y = u + 3, z = u * lane + 7;                                    \
    unsigned a = u, b = u + lane, c = u * 3, d = u - lane;                                                            \
    __syncthreads();                                                                                                  \
    unsigned start = clock_now();                                                                                     \
    _Pragma("unroll 1") for (unsigned i = 0; i < n; i++) { REP4(step_a(a) step_b(b) step_c(c) step_d(d)) }             \
    end_row(took, start, a + b + c + d + y + z);                                                                      \
  }
#define BITS_FMA(x)                                                                                                   \
  asm volatile("{.reg .f32 t, s; mov.b32 t, %0; mov.b32 s, %1; fma.rn.f32 t, t, s, s; mov.b32 %0, t;}" : "+r"(x) : "r"(y));
#define BITS_EX2(x)                                                                                                   \
  asm volatile("{.reg .f32 t; mov.b32 t, %0; ex2.approx.ftz.f32 t, t; mov.b32 %0, t;}" : "+r"(x));
MIXED(mix_lop_imad, STEP_LOP, STEP_MAD, STEP_LOP, STEP_MAD)
MIXED(mix_lop_ffma, STEP_LOP, BITS_FMA, STEP_LOP, BITS_FMA)
MIXED(mix_imad_ffma, STEP_MAD, BITS_FMA, STEP_MAD, BITS_FMA)
MIXED(mix_lop_imad_ffma_ex2, STEP_LOP, STEP_MAD, BITS_FMA, BITS_EX2)
