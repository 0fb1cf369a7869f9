// Ways of a warp, one inside the other: what a convergence barrier costs that some lanes of a warp come to while others are on their way
// elsewhere, by the form of the branches around it; arms of a switch, that leave a barrier by BREAK; calls, and jumps through a table.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mc_paths mc_paths.cu; -cubin, -ptx for the files beside it
#include "mc.cuh"

#define STEP asm volatile("lop3.b32 %0, %0, %1, %2, 0x6a;" : "+r"(x) : "r"(y), "r"(z));
#define STEPS16 REP16(STEP)
#define FEW {1, 4, 16}
#define SIDE(condition) if (condition) { STEPS16 }
#define SIDES(condition) if (condition) { STEPS16 } else { x += z; STEPS16 }

// An `if` inside another one's side.
ROUNDS(in_half, FEW, {64}, , if (lane & 1) { SIDE(lane & 2) })
ROUNDS(in_half_before, FEW, {64}, , if (lane & 1) { STEPS16 SIDE(lane & 2) })
ROUNDS(in_half_behind, FEW, {64}, , if (lane & 1) { SIDE(lane & 2) STEPS16 })
ROUNDS(in_half_all, FEW, {64}, , if (lane & 1) { STEPS16 SIDE(x != 12345) STEPS16 })
ROUNDS(in_half_none, FEW, {64}, , if (lane & 1) { STEPS16 SIDE(x == 12345) STEPS16 })
ROUNDS(in_half_else, FEW, {64}, , if (lane & 1) { STEPS16 SIDES(lane & 2) STEPS16 })
ROUNDS(in_half_twice, FEW, {64}, , if (lane & 1) { STEPS16 SIDE(lane & 2) STEPS16 SIDE(lane & 4) STEPS16 })
ROUNDS(in_half_four, FEW, {64}, ,
       if (lane & 1) { STEPS16 SIDE(lane & 2) STEPS16 SIDE(lane & 4) STEPS16 SIDE(lane & 8) STEPS16 SIDE(lane & 16) STEPS16 })
ROUNDS(in_all, FEW, {64}, , if (x != 12345) { STEPS16 SIDE(lane & 2) STEPS16 })
ROUNDS(in_quarter, FEW, {64}, , if (lane < 8) { STEPS16 SIDE(lane < 4) STEPS16 })
ROUNDS(in_most, FEW, {64}, , if (lane >= 8) { STEPS16 SIDE(lane < 16) STEPS16 })
ROUNDS(in_both, FEW, {64}, ,
       if (lane & 1) { STEPS16 SIDE(lane & 2) STEPS16 } else { x += z; STEPS16 SIDE(lane & 2) STEPS16 })
ROUNDS(in_both_else, FEW, {64}, ,
       if (lane & 1) { STEPS16 SIDES(lane & 2) STEPS16 } else { x += z; STEPS16 SIDES(lane & 2) STEPS16 })
ROUNDS(nested_3, FEW, {64}, , if (lane & 1) { STEPS16 if (lane & 2) { STEPS16 SIDE(lane & 4) STEPS16 } STEPS16 })
ROUNDS(loop_in_half, FEW, {32}, , if (lane & 1) { STEPS16 _Pragma("unroll 1") for (unsigned k = 0; k < (lane / 2) % 4 + 1; k++) { STEPS16 } STEPS16 })
ROUNDS(half_in_loop, FEW, {32}, , _Pragma("unroll 1") for (unsigned k = 0; k < lane % 4 + 1; k++) { STEPS16 SIDE(lane & 4) STEPS16 })

// The arms of a switch, each of other lanes, or all the same one.
#define ARM(k) case k: x += k * z; STEPS16 break;
#define ARMS4 ARM(0) ARM(1) ARM(2) ARM(3)
#define ARMS8 ARMS4 ARM(4) ARM(5) ARM(6) ARM(7)
ROUNDS(switch_3, FEW, {64}, , switch (lane % 3) { ARM(0) ARM(1) ARM(2) })
ROUNDS(switch_5, FEW, {64}, , switch (lane % 5) { ARMS4 ARM(4) })
ROUNDS(switch_6, FEW, {64}, , switch (lane % 6) { ARMS4 ARM(4) ARM(5) })
ROUNDS(switch_7, FEW, {64}, , switch (lane % 7) { ARMS4 ARM(4) ARM(5) ARM(6) })
ROUNDS(switch_8_same, FEW, {64}, , switch ((x + 6) % 8) { ARMS8 })
ROUNDS(switch_8_two, FEW, {64}, , switch (lane % 2 * 6) { ARMS8 })
ROUNDS(switch_8_most, FEW, {64}, , switch (lane < 8 ? lane : 7) { ARMS8 })

// Loops that lanes leave at several places.
ROUNDS(leave_two, FEW, {32}, , _Pragma("unroll 1") for (unsigned k = 0; k < 8; k++) {
  STEPS16 if (k == lane % 8) break;
  STEPS16 if (k == (lane + 3) % 8) { STEPS16 break; }
  STEPS16
})
ROUNDS(leave_all, FEW, {32}, , _Pragma("unroll 1") for (unsigned k = 0; k < 8; k++) {
  STEPS16 if (k + x == 5) break;
  STEPS16
})
ROUNDS(leave_outer, FEW, {8}, , _Pragma("unroll 1") for (unsigned k = 0; k < 4; k++) {
  STEPS16
  _Pragma("unroll 1") for (unsigned m = 0; m < 4; m++) {
    STEPS16 if (k * 4 + m == lane % 16) goto out;
    STEPS16
  }
} out:;)

// Calls.
#define CALLED(name, ...)                                                                                             \
  __device__ __noinline__ unsigned name(unsigned x, unsigned y, unsigned z) { __VA_ARGS__ return x; }
CALLED(called_1, STEP)
CALLED(called_4, REP4(STEP))
CALLED(called_16, STEPS16)
CALLED(called_other, STEPS16 x += z;)
CALLED(called_deep, STEPS16 x = called_16(x, y, z); STEPS16)
ROUNDS(call_1, FEW, {64}, , x = called_1(x, y, z);)
ROUNDS(call_4, FEW, {64}, , x = called_4(x, y, z);)
ROUNDS(call_4_four, FEW, {64}, , REP4(x = called_4(x, y, z);))
ROUNDS(call_16_two, FEW, {64}, , x = called_16(x, y, z); STEPS16 x = called_16(x, y, z);)
ROUNDS(call_two, FEW, {64}, , x = called_16(x, y, z); STEPS16 x = called_other(x, y, z);)
ROUNDS(call_deep, FEW, {64}, , x = called_deep(x, y, z);)
ROUNDS(call_halves, FEW, {64}, , x = lane < 16 ? called_16(x, y, z) : called_other(x, y, z);)

// Jumps through a table, all lanes to one place.
#define TABLE(index)                                                                                                   \
  asm volatile("{\n\tT%=: .branchtargets A%=, B%=, C%=, D%=;\n\tbrx.idx %3, T%=;\n"                               \
               "A%=: lop3.b32 %0, %0, %1, %2, 0x6a; bra E%=;\nB%=: lop3.b32 %0, %0, %1, %2, 0x6b; bra E%=;\n"     \
               "C%=: lop3.b32 %0, %0, %1, %2, 0x6c; bra E%=;\nD%=: lop3.b32 %0, %0, %1, %2, 0x6d;\nE%=:\n\t}"     \
               : "+r"(x) : "r"(y), "r"(z), "r"(index));
ROUNDS(table_same, FEW, {64}, , TABLE((lane & zero) + 2))
ROUNDS(table_turns, FEW, {64}, , TABLE(i % 4))
ROUNDS(table_four, FEW, {64}, , TABLE(lane % 4))

// Lanes that meet at a __syncwarp in both sides of a branch.
ROUNDS(sides_meet, FEW, {64}, , if (lane < 16) __syncwarp(); else { x += z; __syncwarp(); })
ROUNDS(sides_meet_twice, FEW, {64}, ,
       if (lane < 16) { __syncwarp(); STEPS16 __syncwarp(); } else { x += z; __syncwarp(); STEPS16 __syncwarp(); })
ROUNDS(sides_meet_late, FEW, {64}, , if (lane < 16) { STEPS16 __syncwarp(); } else { x += z; __syncwarp(); })
ROUNDS(side_meets_end, FEW, {64}, , if (lane < 16) { STEPS16 __syncwarp(0xffff); STEPS16 } else { x += z; STEPS16 })
#define MEET(k) case k: x += k * z; __syncwarp(); break;
ROUNDS(arms_meet_3, FEW, {64}, , switch (lane % 3) { MEET(0) MEET(1) MEET(2) })
ROUNDS(arms_meet_4, FEW, {64}, , switch (lane % 4) { MEET(0) MEET(1) MEET(2) MEET(3) })
ROUNDS(sides_shuffle, FEW, {64}, , if (lane < 16) x += __shfl_sync(0xffffffff, x, 0) & zero; else { x += z; x += __shfl_sync(0xffffffff, x, 1) & zero; })
ROUNDS(sides_vote, FEW, {64}, , if (lane < 16) x += __ballot_sync(0xffffffff, x == 12345); else { x += z; x += __ballot_sync(0xffffffff, x == 12345); })
ROUNDS(side_one_meets, FEW, {64}, , if (lane < 1) __syncwarp(); else { x += z; __syncwarp(); })

// A jump through a table to two and to eight places.
ROUNDS(table_two, FEW, {64}, , TABLE(lane % 2))

// One side comes long after the other: what is left to do when the last lanes come.
#define SLEEP for (unsigned t = clock_now(); atomicAdd(&late, 0) + clock_now() - t < 4000;);
ROUNDS(late_joins, FEW, {64}, __shared__ unsigned late; late = 0, if (lane < 1) { SLEEP } x += z;)
ROUNDS(late_meets, FEW, {64}, __shared__ unsigned late; late = 0, if (lane < 1) { SLEEP __syncwarp(); } else { x += z; __syncwarp(); })
ROUNDS(late_half_joins, FEW, {64}, __shared__ unsigned late; late = 0, if (lane < 16) { SLEEP } x += z;)
ROUNDS(late_half_meets, FEW, {64}, __shared__ unsigned late; late = 0, if (lane < 16) { SLEEP __syncwarp(); } else { x += z; __syncwarp(); })
ROUNDS(late_arms_meet_3, FEW, {64}, __shared__ unsigned late; late = 0, if (lane < 1) { SLEEP __syncwarp(); } else if (lane < 16) { x += z; __syncwarp(); } else { x ^= z; __syncwarp(); })
