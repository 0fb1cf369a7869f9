// Shared memory by width: loads and stores of 32, 64 and 128 bits, by which lanes have the same place, and which banks theirs are in.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mc_shared mc_shared.cu; -cubin, -ptx for the files beside it
#include "mc.cuh"

// Places of lanes, in units of an access.
#define ROW lane
#define ONE (lane & zero)
#define BY_16 (lane / 16)
#define BY_16_APART (lane / 16 * 4)
#define BY_16_BANK (lane / 16 * 32)
#define BY_8 (lane / 8)
#define BY_4 (lane / 4)
#define BY_2 (lane / 2)
#define MOD_2 (lane % 2)
#define MOD_4 (lane % 4)
#define MOD_8 (lane % 8)
#define MOD_16 (lane % 16)
#define MOD_2_BANK (lane % 2 * 32)
#define STRIDE_2 (lane * 2)
#define STRIDE_4 (lane * 4 % 64)
#define REVERSED (31 - lane)
#define MIXED ((lane * 13 + lane / 8 * 5) % 32)
#define PADDED (lane * 33 % 64)

#define load_32(o) asm volatile("ld.volatile.shared.u32 %0, [%1+" #o "];" : "=r"(a) : "r"(at)); x += a;
#define load_64(o) asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2+" #o "];" : "=r"(a), "=r"(b) : "r"(at)); x += a;
#define load_128(o) asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4+" #o "];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at)); x += a;
#define store_32(o) asm volatile("st.volatile.shared.u32 [%0+" #o "], %1;" ::"r"(at), "r"(y));
#define store_64(o) asm volatile("st.volatile.shared.v2.u32 [%0+" #o "], {%1, %1};" ::"r"(at), "r"(y));
#define store_128(o) asm volatile("st.volatile.shared.v4.u32 [%0+" #o "], {%1, %1, %1, %1};" ::"r"(at), "r"(y));
#define EIGHT(op) op(0) op(2048) op(4096) op(6144) op(0) op(2048) op(4096) op(6144)

#define PLACES(name, bytes, lanes)                                                                                     \
  static __shared__ unsigned own[4096];                                                                                \
  for (unsigned i = threadIdx.x; i < 4096; i += blockDim.x)                                                             \
    own[i] = 0;                                                                                                        \
  unsigned a = 0, b = 0, c = 0, d = 0, at = (unsigned)__cvta_generic_to_shared(own) + (bytes) * (lanes)
#define CASE(op, bytes, name, lanes)                                                                                   \
  ROUNDS(op##_##name, WARPS_ALL, {64}, PLACES(name, bytes, lanes), EIGHT(op) y += b + c + d;)
#define SHAPES(op, bytes)                                                                                              \
  CASE(op, bytes, row, ROW)                                                                                            \
  CASE(op, bytes, one, ONE)                                                                                            \
  CASE(op, bytes, by_16, BY_16)                                                                                        \
  CASE(op, bytes, by_16_apart, BY_16_APART)                                                                            \
  CASE(op, bytes, by_16_bank, BY_16_BANK)                                                                              \
  CASE(op, bytes, by_8, BY_8)                                                                                          \
  CASE(op, bytes, by_4, BY_4)                                                                                          \
  CASE(op, bytes, by_2, BY_2)                                                                                          \
  CASE(op, bytes, mod_2, MOD_2)                                                                                        \
  CASE(op, bytes, mod_4, MOD_4)                                                                                        \
  CASE(op, bytes, mod_8, MOD_8)                                                                                        \
  CASE(op, bytes, mod_16, MOD_16)                                                                                      \
  CASE(op, bytes, mod_2_bank, MOD_2_BANK)                                                                              \
  CASE(op, bytes, stride_2, STRIDE_2)                                                                                  \
  CASE(op, bytes, stride_4, STRIDE_4)                                                                                  \
  CASE(op, bytes, reversed, REVERSED)                                                                                  \
  CASE(op, bytes, mixed, MIXED)                                                                                        \
  CASE(op, bytes, padded, PADDED)
SHAPES(load_32, 4)
SHAPES(load_64, 8)
SHAPES(load_128, 16)
SHAPES(store_32, 4)
SHAPES(store_64, 8)
SHAPES(store_128, 16)

// Chains: each load's place needs the one before.
#define chain_32(k) asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(a) : "r"(at)); at += a;
#define chain_64(k) asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(at)); at += a;
#define chain_128(k) asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at)); at += a;
#define CHAIN(op, bytes, name, lanes)                                                                                  \
  ROUNDS(op##_##name, {1}, {64}, PLACES(name, bytes, lanes), REP4(op(0)) y += b + c + d;)
#define CHAINS(op, bytes)                                                                                              \
  CHAIN(op, bytes, row, ROW)                                                                                           \
  CHAIN(op, bytes, one, ONE)                                                                                           \
  CHAIN(op, bytes, by_8, BY_8)                                                                                         \
  CHAIN(op, bytes, stride_2, STRIDE_2)
CHAINS(chain_32, 4)
CHAINS(chain_64, 8)
CHAINS(chain_128, 16)

// Shared memory and the L1 have one array: loads that hit the L1 (lines: how many of a warp's), or go past it, alone and beside accesses to shared memory.
#define HIT(o) asm volatile("ld.global.ca.u32 %0, [%1+" #o "];" : "=r"(a) : "l"(from + (i & zero))); x += a;
#define PAST(o) asm volatile("ld.global.cg.u32 %0, [%1+" #o "];" : "=r"(a) : "l"(from + (i & zero))); x += a;
#define FOUR(op) op(0) op(2048) op(4096) op(6144)
#define TURNS(op, other) op(0) other(0) op(2048) other(2048) op(4096) other(4096) op(6144) other(6144)
#define GLOBAL(name, lanes, ...)                                                                                       \
  ROUNDS(name, WARPS_ALL, {64}, PLACES(name, 4, lane); const unsigned *from = words + (lanes) + threadIdx.x / 32 % 4 * 512, __VA_ARGS__ y += b + c + d;)
GLOBAL(hit_row, lane, FOUR(HIT))
GLOBAL(hit_halves, lane / 16 * 64 + lane % 16, FOUR(HIT))
GLOBAL(hit_eight, lane / 4 * 64 + lane % 4, FOUR(HIT))
GLOBAL(past_row, lane, FOUR(PAST))
GLOBAL(past_halves, lane / 16 * 64 + lane % 16, FOUR(PAST))
GLOBAL(hit_row_load_32, lane, TURNS(HIT, load_32))
GLOBAL(hit_halves_load_32, lane / 16 * 64 + lane % 16, TURNS(HIT, load_32))
GLOBAL(hit_eight_load_32, lane / 4 * 64 + lane % 4, TURNS(HIT, load_32))
GLOBAL(past_row_load_32, lane, TURNS(PAST, load_32))
GLOBAL(past_halves_load_32, lane / 16 * 64 + lane % 16, TURNS(PAST, load_32))
ROUNDS(hit_row_load_128, WARPS_ALL, {64}, PLACES(name, 16, lane); const unsigned *from = words + lane + threadIdx.x / 32 % 4 * 512, TURNS(HIT, load_128) y += b + c + d;)
GLOBAL(hit_row_store_32, lane, TURNS(HIT, store_32))
GLOBAL(past_row_store_32, lane, TURNS(PAST, store_32))
GLOBAL(load_32_store_32, lane, TURNS(load_32, store_32))
#define PUT(o) asm volatile("st.global.u32 [%0+" #o "], %1;" ::"l"(from + (i & zero)), "r"(y));
#define FIVE(op, other) op(0) other(0) other(2048) other(4096) other(6144)
GLOBAL(put_row, lane, FOUR(PUT))
GLOBAL(put_row_load_32, lane, TURNS(PUT, load_32))
GLOBAL(put_row_four_load_32, lane, FIVE(PUT, load_32))
GLOBAL(put_row_four_store_32, lane, FIVE(PUT, store_32))
GLOBAL(past_row_four_load_32, lane, FIVE(PAST, load_32))
GLOBAL(past_halves_four_load_32, lane / 16 * 64 + lane % 16, FIVE(PAST, load_32))
GLOBAL(hit_row_put_row, lane, TURNS(HIT, PUT))
