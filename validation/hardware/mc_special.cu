// Special registers, and words of constant memory that instructions name (c[0x0][0x210]): read once before a loop, and in each round.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mc_special mc_special.cu; -cubin, -ptx for the files beside it
#include "mc.cuh"

// Few rounds show what the first one takes.
#define RUNS {1, 4, 32}
#define FEW {1, 16}
#define ONCE(reg) ({ unsigned value_; asm("mov.u32 %0, %%" #reg ";" : "=r"(value_)); value_; })
#define AGAIN(reg) ({ unsigned value_; asm volatile("mov.u32 %0, %%" #reg ";" : "=r"(value_)); value_; })
#define READS(name, reg)                                                                                              \
  ROUNDS(once_##name, RUNS, FEW, , x += ONCE(reg) & zero;)                                                            \
  ROUNDS(each_##name, RUNS, FEW, , x += AGAIN(reg) & zero;)                                                           \
  ROUNDS(four_##name, RUNS, FEW, , REP4(x += AGAIN(reg) & zero;))                                                     \
  ROUNDS(beside_##name, RUNS, FEW, , unsigned a = AGAIN(reg); unsigned b = AGAIN(reg); unsigned c = AGAIN(reg);        \
         x += (a + b + c + AGAIN(reg)) & zero;)
READS(tid, tid.x)
READS(ctaid, ctaid.x)
READS(nctaid, nctaid.x)
READS(laneid, laneid)
READS(lanemask, lanemask_lt)
READS(smid, smid)
READS(warpid, warpid)
READS(rank, cluster_ctarank)
READS(clusterid, clusterid.x)
ROUNDS(shared_static, RUNS, FEW, __shared__ volatile unsigned cells[32], x = cells[x & 31] & zero;)
ROUNDS(shared_before, RUNS, FEW, __shared__ volatile unsigned cells[32]; x = cells[x & 31] & zero, x = cells[x & 31] & zero;)
