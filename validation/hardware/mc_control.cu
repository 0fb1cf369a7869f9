// Control: loops, branches, parting and meeting by the number of ways, calls, block barriers, WARPSYNC, and the uniform datapath.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mc_control mc_control.cu; -cubin, -ptx for the files beside it
#include "mc.cuh"

#define STEP asm volatile("lop3.b32 %0, %0, %1, %2, 0x6a;" : "+r"(x) : "r"(y), "r"(z));
#define STEPS16 REP16(STEP)
#define FEW {1, 4, 16}
#define PAIRS {2, 4, 8, 16, 32}

ROUNDS(loop_1, WARPS_ALL, {256}, , STEP)
ROUNDS(loop_4, WARPS_ALL, {256}, , REP4(STEP))
ROUNDS(loop_16, WARPS_ALL, {64}, , STEPS16)

// Sixteen branches that nobody takes, and sixteen that all take.
#define NOT_TAKEN asm volatile("{.reg .pred p; setp.eq.u32 p, %0, 12345; @p trap;}" ::"r"(x)); STEP
ROUNDS(branch_not_taken, WARPS_ALL, {64}, , REP16(NOT_TAKEN))
#define TAKEN                                                                                                         \
  asm volatile("{.reg .pred p; setp.ne.u32 p, %0, 12345; @p bra L%=; trap; L%=:}" ::"r"(x));                          \
  STEP
ROUNDS(branch_taken, WARPS_ALL, {64}, , REP16(TAKEN))

// Parting and meeting: ifs whose sides have sixteen instructions.
#define SIDE(condition) if (condition) { STEPS16 }
#define OTHER_SIDE else { x += z; STEPS16 }
ROUNDS(if_none, FEW, {64}, , SIDE(x == 12345))
ROUNDS(if_all, FEW, {64}, , SIDE(x != 12345))
ROUNDS(if_half, FEW, {64}, , SIDE(lane < 16))
ROUNDS(if_one, FEW, {64}, , SIDE(lane == 5))
ROUNDS(if_most, FEW, {64}, , SIDE(lane != 5))
ROUNDS(if_else_half, FEW, {64}, , SIDE(lane < 16) OTHER_SIDE)
ROUNDS(if_else_all, FEW, {64}, , SIDE(x != 12345) OTHER_SIDE)
ROUNDS(if_short, FEW, {256}, , if (lane < 16) { STEP })
ROUNDS(ifs_2, FEW, {64}, , SIDE(lane % 2 == 0) SIDE(lane % 2 == 1))
ROUNDS(ifs_4, FEW, {64}, , SIDE(lane % 4 == 0) SIDE(lane % 4 == 1) SIDE(lane % 4 == 2) SIDE(lane % 4 == 3))
ROUNDS(nested_2, FEW, {64}, , if (lane & 1) { STEPS16 SIDE(lane & 2) STEPS16 })
ROUNDS(nested_4, FEW, {64}, ,
       if (lane & 1) { STEPS16 if (lane & 2) { STEPS16 if (lane & 4) { STEPS16 SIDE(lane & 8) STEPS16 } STEPS16 } STEPS16 })

// The arms of a switch: so many ways at once.
#define ARM(k) case k: x += k * z; STEPS16 break;
#define SWITCH(ways, ...) switch (lane % ways) { __VA_ARGS__ }
ROUNDS(switch_2, FEW, {64}, , SWITCH(2, ARM(0) ARM(1)))
ROUNDS(switch_4, FEW, {64}, , SWITCH(4, ARM(0) ARM(1) ARM(2) ARM(3)))
ROUNDS(switch_8, FEW, {64}, , SWITCH(8, ARM(0) ARM(1) ARM(2) ARM(3) ARM(4) ARM(5) ARM(6) ARM(7)))
ROUNDS(switch_16, FEW, {64}, ,
       SWITCH(16, ARM(0) ARM(1) ARM(2) ARM(3) ARM(4) ARM(5) ARM(6) ARM(7) ARM(8) ARM(9) ARM(10) ARM(11) ARM(12) ARM(13)
                      ARM(14) ARM(15)))

// Loops that lanes leave in different rounds.
#define LOOP(times) for (unsigned k = 0; k < times; k++) { STEPS16 }
ROUNDS(loop_lanes_2, FEW, {32}, , _Pragma("unroll 1") LOOP(lane % 2 + 1))
ROUNDS(loop_lanes_8, FEW, {32}, , _Pragma("unroll 1") LOOP(lane % 8 + 1))
ROUNDS(loop_lanes_32, FEW, {8}, , _Pragma("unroll 1") LOOP(lane + 1))
ROUNDS(loop_break, FEW, {32}, , _Pragma("unroll 1") for (unsigned k = 0; k < 8; k++) {
  STEPS16 if (k == lane % 8) { STEPS16 break; }
  STEPS16
})
ROUNDS(loop_continue, FEW, {32}, , _Pragma("unroll 1") for (unsigned k = 0; k < 8; k++) {
  if (k == lane % 8) { STEPS16 continue; }
  STEPS16
})

__device__ __noinline__ unsigned called(unsigned x, unsigned y, unsigned z) {
  STEPS16
  return x;
}
ROUNDS(call, FEW, {64}, , x = called(x, y, z);)
ROUNDS(call_half, FEW, {64}, , if (lane < 16) x = called(x, y, z);)

// ---- WARPSYNC ----

ROUNDS(syncwarp, WARPS_EACH, {64}, , REP16(__syncwarp(); STEP))
ROUNDS(syncwarp_some, WARPS_EACH, {64}, if (lane >= 16) return,
       REP16(__syncwarp(0xffff); STEP))
ROUNDS(syncwarp_after_if, FEW, {64}, , if (lane < 16) { STEPS16 } __syncwarp();)
ROUNDS(syncwarp_in_sides, FEW, {64}, , if (lane < 16) { STEPS16 __syncwarp(); STEPS16 } else { x += z; STEPS16 __syncwarp(); STEPS16 })
ROUNDS(syncwarp_halves, FEW, {64}, ,
       if (lane < 16) { STEPS16 __syncwarp(0xffff); STEPS16 } else { x += z; STEPS16 __syncwarp(0xffff0000); STEPS16 })
ROUNDS(ballot_in_sides, FEW, {64}, ,
       if (lane < 16) { STEPS16 x += __ballot_sync(0xffff, x); STEPS16 } else { x += z; STEPS16 x += __ballot_sync(0xffff0000, x); })

// ---- block barriers ----

#define BARRIER_WARPS {1, 2, 3, 4, 8, 16, 32}
ROUNDS(barrier, BARRIER_WARPS, {256}, , __syncthreads();)
ROUNDS(barrier_16, BARRIER_WARPS, {32}, , REP16(__syncthreads();))
ROUNDS(barrier_alu, BARRIER_WARPS, {256}, , STEPS16 __syncthreads();)
ROUNDS(barrier_count, BARRIER_WARPS, {256}, , asm volatile("bar.sync 1, %0;" ::"r"(blockDim.x) : "memory");)
ROUNDS(barrier_or, BARRIER_WARPS, {256}, , x = __syncthreads_or(x) & zero;)
ROUNDS(barrier_popc, BARRIER_WARPS, {256}, , x = __syncthreads_count(x) & zero;)
ROUNDS(barrier_store, BARRIER_WARPS, {256}, __shared__ volatile unsigned cell[1024], cell[threadIdx.x] = i; __syncthreads();)
ROUNDS(barrier_store_load, BARRIER_WARPS, {256}, __shared__ volatile unsigned cell[1024],
       cell[threadIdx.x] = i; __syncthreads(); x += cell[threadIdx.x ^ 33]; __syncthreads();)
ROUNDS(barrier_half, FEW, {256}, , if (lane < 16) { STEPS16 } __syncthreads();)
// Two halves of the block hand on to each other.
ROUNDS(barrier_pair, PAIRS, {256}, unsigned all = blockDim.x; bool first = threadIdx.x < all / 2,
       if (first) { asm volatile("bar.arrive 1, %0; bar.sync 2, %0;" ::"r"(all) : "memory"); }
       else { asm volatile("bar.sync 1, %0; bar.arrive 2, %0;" ::"r"(all) : "memory"); })

// ---- the uniform datapath: values that are the same in all lanes ----

#define UNIFORM(name, before, round)                                                                                  \
  BENCH(name, WARPS_ALL, {64}) {                                                                                      \
    unsigned u = n, v = zero + 5;                                                                                     \
    before;                                                                                                           \
    __syncthreads();                                                                                                  \
    unsigned start = clock_now();                                                                                     \
    _Pragma("unroll 1") for (unsigned i = 0; i < n; i++) { round }                                                    \
    end_row(took, start, u + v);                                                                                      \
  }
UNIFORM(uniform_add, , REP16(u = (u + v) ^ zero;))
UNIFORM(uniform_shift, , REP16(u = __funnelshift_l(u, v, 3);))
UNIFORM(uniform_mad, , REP16(u = u * v + zero;))
UNIFORM(uniform_ballot, unsigned x = threadIdx.x & zero, REP4(u = __popc(__ballot_sync(~0u, u != v + x)) + v; v = u ^ zero;))
UNIFORM(uniform_vote, unsigned x = threadIdx.x & zero, REP4(u += __any_sync(~0u, u == x) ? v : zero;))
