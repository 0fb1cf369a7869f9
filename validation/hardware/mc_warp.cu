// What lanes of a warp do together, constants, and when stores and the like have read their sources.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mc_warp mc_warp.cu; -cubin, -ptx for the files beside it
#include "mc.cuh"

__constant__ unsigned table[16 * 1024];

// ---- warp operations: a chain, and four side by side ----

#define CHAINS(name, step)                                                                                            \
  BENCH(name##_d, WARPS_EACH, {64}) {                                                                                 \
    unsigned lane = threadIdx.x % 32, a = lane & zero, y = a + 3;                                                     \
    __syncthreads();                                                                                                  \
    unsigned start = clock_now();                                                                                     \
    _Pragma("unroll 1") for (unsigned i = 0; i < n; i++) { REP16(step(a)) }                                            \
    end_row(took, start, a + y);                                                                                      \
  }                                                                                                                   \
  BENCH(name##_i, WARPS_EACH, {64}) {                                                                                 \
    unsigned lane = threadIdx.x % 32, a = lane & zero, b = a + lane, c = a * 3, d = a - lane, y = a + 3;              \
    __syncthreads();                                                                                                  \
    unsigned start = clock_now();                                                                                     \
    _Pragma("unroll 1") for (unsigned i = 0; i < n; i++) { REP4(step(a) step(b) step(c) step(d)) }                     \
    end_row(took, start, a + b + c + d + y);                                                                          \
  }
#define SHFL_IDX(x) x = __shfl_sync(~0u, x, y);
#define SHFL_XOR(x) x = __shfl_xor_sync(~0u, x, 1);
#define SHFL_UP(x) x = __shfl_up_sync(~0u, x, 1);
#define BALLOT(x) x = __ballot_sync(~0u, x == y) + lane;
#define ANY(x) x = __any_sync(~0u, x == y) ? lane : y;
#define ALL(x) x = __all_sync(~0u, x == y) ? lane : y;
#define MATCH_ANY(x) x = __match_any_sync(~0u, x);
#define MATCH_ALL(x) asm volatile("{.reg .pred p; match.all.sync.b32 %0|p, %0, -1;}" : "+r"(x));
#define REDUX_ADD(x) x = __reduce_add_sync(~0u, x) + lane;
#define REDUX_OR(x) x = __reduce_or_sync(~0u, x) + lane;
#define REDUX_MIN(x) x = __reduce_min_sync(~0u, x) + lane;
#define ACTIVE(x) x += __activemask();
#define POPC_BALLOT(x) x = __popc(__ballot_sync(~0u, x & 1)) + lane;
#define FIRST_LANE(x) x += __shfl_sync(~0u, x, __ffs(__ballot_sync(~0u, x & 1)) - 1);
CHAINS(shfl_idx, SHFL_IDX)
CHAINS(shfl_xor, SHFL_XOR)
CHAINS(shfl_up, SHFL_UP)
CHAINS(ballot, BALLOT)
CHAINS(any, ANY)
CHAINS(all, ALL)
CHAINS(match_any, MATCH_ANY)
CHAINS(match_all, MATCH_ALL)
CHAINS(redux_add, REDUX_ADD)
CHAINS(redux_or, REDUX_OR)
CHAINS(redux_min, REDUX_MIN)
CHAINS(active, ACTIVE)
CHAINS(popc_ballot, POPC_BALLOT)
CHAINS(first_lane, FIRST_LANE)

// match.any by the number of distinct values.
ROUNDS(match_any_1, WARPS_ALL, {64}, , REP4(x = __match_any_sync(~0u, x & zero);))
ROUNDS(match_any_2, WARPS_ALL, {64}, , REP4(x = __match_any_sync(~0u, (x & zero) + lane % 2);))
ROUNDS(match_any_8, WARPS_ALL, {64}, , REP4(x = __match_any_sync(~0u, (x & zero) + lane % 8);))
ROUNDS(match_any_32, WARPS_ALL, {64}, , REP4(x = __match_any_sync(~0u, (x & zero) + lane);))

// ---- special registers ----

#define SPECIAL(reg) asm volatile("{.reg .u32 t; mov.u32 t, %%" #reg "; and.b32 t, t, %1; add.u32 %0, %0, t;}" : "+r"(x) : "r"(z));
ROUNDS(special_laneid, WARPS_ALL, {64}, z = x, REP4(SPECIAL(laneid)))
ROUNDS(special_clock, WARPS_ALL, {64}, z = x, REP4(SPECIAL(clock)))
ROUNDS(special_warpid, WARPS_ALL, {64}, z = x, REP4(SPECIAL(warpid)))
ROUNDS(special_smid, WARPS_ALL, {64}, z = x, REP4(SPECIAL(smid)))
ROUNDS(special_lanemask, WARPS_ALL, {64}, z = x, REP4(SPECIAL(lanemask_lt)))
#define FEW {1, 4}
ROUNDS(special_globaltimer, FEW, {64}, z = x, REP4(SPECIAL(globaltimer_lo)))

// ---- constants ----

// A chain of indexed loads, all lanes at one word; lanes at so many words.
ROUNDS(constant, WARPS_EACH, {64}, , REP16(x = table[x];))
ROUNDS(constant_4, WARPS_EACH, {64}, , REP16(x = table[x + lane % 4];))
ROUNDS(constant_32, WARPS_EACH, {64}, , REP16(x = table[x + lane];))
ROUNDS(constant_lines_4, WARPS_EACH, {64}, , REP16(x = table[x + lane % 4 * 64];))
ROUNDS(constant_side, WARPS_EACH, {64}, , REP4(x += table[y]; y += table[z]; z += table[x];))
// First touches: a chain over n places so many words apart.
#define FIRST_TOUCH(words_apart)                                                                                      \
  BENCH(constant_first_##words_apart, {1}, {1, 2, 4, 8, 16, 32, 64}) {                                                \
    unsigned x = threadIdx.x & zero;                                                                                  \
    unsigned start = clock_now();                                                                                     \
    _Pragma("unroll 1") for (unsigned i = 0; i < n; i++) x = table[x + i * words_apart];                              \
    end_row(took, start, x);                                                                                          \
  }
FIRST_TOUCH(1)
FIRST_TOUCH(8)
FIRST_TOUCH(16)
FIRST_TOUCH(64)
FIRST_TOUCH(128)

// ---- sources: each store's data are overwritten by the next instruction ----

#define SOURCES(name, what) ROUNDS(name, WARPS_EACH, {64}, [[maybe_unused]] __shared__ volatile unsigned cell[1024], REP4(what; STEP))
#define STEP asm volatile("lop3.b32 %0, %0, %1, %2, 0x6a;" : "+r"(x) : "r"(y), "r"(z));
SOURCES(source_shared, cell[threadIdx.x] = x)
SOURCES(source_global, ((volatile unsigned *)words)[threadIdx.x] = x)
SOURCES(source_red, atomicAdd(words + threadIdx.x, x))
SOURCES(source_red_shared, atomicAdd((unsigned *)cell + threadIdx.x, x))
SOURCES(source_address, (*(volatile unsigned *)(words + (x & 1023)) = y))
