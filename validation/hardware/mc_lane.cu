// Code that one lane or a few lanes of each warp come to, by many warps: how often a scheduler can part lanes and choose others. Chains through a word
// of the block, and fences of the block behind and before stores.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mc_lane mc_lane.cu; -cubin, -ptx for the files beside it
#include "mc.cuh"

#define WARPS {1, 4, 8, 12, 16, 24, 32}
#define CELL                                                                                                          \
  __shared__ unsigned cells[64];                                                                                      \
  if (threadIdx.x < 64)                                                                                               \
    cells[threadIdx.x] = 0;                                                                                           \
  unsigned cell = (unsigned)__cvta_generic_to_shared(cells + threadIdx.x / 32)
#define RED asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(cell), "r"(y) : "memory");
#define EXCH asm volatile("atom.shared.exch.b32 %0, [%1], %0;" : "+r"(x) : "r"(cell) : "memory");
#define ADD asm volatile("add.f32 %0, %0, %1;" : "+r"(z) : "r"(y));
#define LOOP _Pragma("unroll 1") for (unsigned k = 0; k < y - 1; k++) x += z & zero;

ROUNDS(no_red, WARPS, {64}, CELL, RED)
ROUNDS(if_red, WARPS, {64}, CELL, if (lane == 0) { RED })
ROUNDS(if_exch, WARPS, {64}, CELL, if (lane == 0) { EXCH })
ROUNDS(all_exch, WARPS, {64}, CELL, if (x != 12345) { EXCH })
ROUNDS(none_exch, WARPS, {64}, CELL, if (x == 12345) { EXCH })
ROUNDS(half_exch, WARPS, {64}, CELL, if (lane < 16) { EXCH })
ROUNDS(if_loop, WARPS, {64}, CELL, if (lane == 0) { LOOP })
ROUNDS(half_loop, WARPS, {64}, CELL, if (lane < 16) { LOOP })
ROUNDS(most_loop, WARPS, {64}, CELL, if (lane != 5) { LOOP })
ROUNDS(all_loop, WARPS, {64}, CELL, if (x != 12345) { LOOP })
ROUNDS(none_loop, WARPS, {64}, CELL, if (x == 12345) { LOOP })
ROUNDS(bare_loop, WARPS, {64}, CELL, LOOP)
ROUNDS(two_ifs, WARPS, {64}, CELL, if (lane == 0) { EXCH } if (lane == 1) { EXCH })
ROUNDS(if_else, WARPS, {64}, CELL, if (lane == 0) { EXCH } else { LOOP })
ROUNDS(in_if, WARPS, {64}, CELL, if (lane < 16) { EXCH if (lane < 8) { EXCH } x += z & zero; })
ROUNDS(if_syncwarp, WARPS, {64}, CELL, if (lane == 0) { EXCH } __syncwarp();)
ROUNDS(if_beside, WARPS, {64}, CELL, if (lane == 0) { EXCH } REP16(ADD))
ROUNDS(four_ways, WARPS, {64}, CELL, switch (lane % 4) {
  case 0: EXCH x += y * zero; break;
  case 1: x += 5 & zero; EXCH break;
  case 2: x *= z | 1; EXCH x += 3 & zero; break;
  case 3: x ^= y & zero; EXCH x ^= z & zero; break; })
ROUNDS(leave_4, WARPS, {64}, CELL, _Pragma("unroll 1") for (unsigned k = 0; k <= lane % 4; k++) { EXCH })
ROUNDS(leave_1, WARPS, {64}, CELL, _Pragma("unroll 1") for (unsigned k = 0; k <= (lane == 0); k++) { EXCH })
// Chains through a word of the block: one lane of each warp, all lanes.
ROUNDS(lds_uniform, WARPS, {64}, CELL, asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x) : "r"((unsigned)__cvta_generic_to_shared(cells)) : "memory"); x &= zero; asm volatile("" ::"r"(x));)
ROUNDS(word_add, WARPS, {64}, CELL, asm volatile("atom.shared.add.u32 %0, [%1], %0;" : "+r"(x) : "r"((unsigned)__cvta_generic_to_shared(cells)) : "memory");)
ROUNDS(word_add_lane, WARPS, {64}, CELL, if (lane == 0) asm volatile("atom.shared.add.u32 %0, [%1], %0;" : "+r"(x) : "r"((unsigned)__cvta_generic_to_shared(cells)) : "memory");)
ROUNDS(word_cas_lane, WARPS, {64}, CELL, if (lane == 0) asm volatile("atom.shared.cas.b32 %0, [%1], %0, %0;" : "+r"(x) : "r"((unsigned)__cvta_generic_to_shared(cells)) : "memory");)
// Fences of the block: a store and a fence; two stores and a fence; a fence beside others' stores.
#define PUT(at) asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(cell + at), "r"(x) : "memory");
#define FENCE asm volatile("fence.acq_rel.cta;" ::: "memory");
ROUNDS(put_fence, WARPS, {64}, CELL, PUT(0) FENCE)
ROUNDS(put_fence_put, WARPS, {64}, CELL, PUT(0) FENCE PUT(4))
ROUNDS(put_4_fence, WARPS, {64}, CELL, REP4(PUT(0)) FENCE)
ROUNDS(put_8_fence, WARPS, {64}, CELL, REP4(PUT(0)) REP4(PUT(0)) FENCE)
ROUNDS(put_fence_4, WARPS, {64}, CELL, PUT(0) FENCE REP4(PUT(4)))
ROUNDS(put_fence_wait, WARPS, {64}, CELL, PUT(0) FENCE REP16(ADD))
ROUNDS(fence_wait_put, WARPS, {64}, CELL, FENCE REP16(ADD) PUT(0))
ROUNDS(lds_fence, WARPS, {64}, CELL, asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x) : "r"(cell + x) : "memory"); FENCE)
ROUNDS(fence_alone, WARPS, {64}, CELL, FENCE)
ROUNDS(fence_alone_wait, WARPS, {64}, CELL, FENCE REP16(ADD))
// The first four warps, one of each scheduler, fence; the others store, or load.
#define BESIDE(name, ours, theirs)                                                                                    \
  BENCH(name, WARPS, {64}) {                                                                                          \
    unsigned lane = threadIdx.x % 32, x = lane & zero;                                                                \
    CELL;                                                                                                             \
    __syncthreads();                                                                                                  \
    unsigned start = clock_now();                                                                                     \
    if (threadIdx.x < 128) {                                                                                          \
      _Pragma("unroll 1") for (unsigned i = 0; i < n; i++) { ours }                                                    \
    } else {                                                                                                          \
      _Pragma("unroll 1") for (unsigned i = 0; i < 8 * n; i++) { theirs }                                              \
    }                                                                                                                 \
    unsigned t = clock_now() - start;                                                                                 \
    if (threadIdx.x % 32 == 0 && threadIdx.x < 128) {                                                                 \
      atomicMax(took, t);                                                                                             \
      atomicAdd(took + 1, x == 0x5eed1e55 ? x : t);                                                                   \
    }                                                                                                                 \
  }
BESIDE(fence_beside_put, FENCE, PUT(0))
BESIDE(put_fence_beside_put, PUT(0) FENCE, PUT(0))
BESIDE(fence_beside_lds, FENCE, asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x) : "r"(cell + x) : "memory");)
BESIDE(lds_beside_fence, asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x) : "r"(cell + x) : "memory");, FENCE)
BESIDE(put_beside_fence, PUT(0), FENCE)
