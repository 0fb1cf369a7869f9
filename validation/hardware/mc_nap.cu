// What a sleep takes where other lanes of its warp wait for those that sleep, go on beside them, or have exited; and locks of a block whose waiters sleep.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mc_nap mc_nap.cu; -cubin, -ptx for the files beside it
#include "mc.cuh"

#define WARPS {1, 4, 8, 16, 32}
#define CELL                                                                                                          \
  __shared__ unsigned cells[64];                                                                                      \
  if (threadIdx.x < 64)                                                                                               \
    cells[threadIdx.x] = 0;                                                                                           \
  unsigned cell = (unsigned)__cvta_generic_to_shared(cells + threadIdx.x / 32)
// Shorter than the least that the timer tells apart: it is over at once.
#define NAP asm volatile("nanosleep.u32 20;" ::: "memory");
#define NAP_OF(ns) asm volatile("nanosleep.u32 %0;" ::"r"(ns) : "memory");
#define ADD asm volatile("add.f32 %0, %0, %1;" : "+r"(z) : "r"(y));
#define LOAD asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x) : "r"(cell) : "memory");
#define LOOP _Pragma("unroll 1") for (unsigned k = 0; k < y - 1; k++) x += z & zero;
#define SYNC __syncwarp();

ROUNDS(nap_all, WARPS, {64}, CELL, NAP)
ROUNDS(nap_all_twice, WARPS, {64}, CELL, NAP NAP)
ROUNDS(nap_lane, WARPS, {64}, CELL, if (lane == 0) { NAP })
ROUNDS(nap_lane_sync, WARPS, {64}, CELL, if (lane == 0) { NAP } SYNC)
ROUNDS(nap_lane_twice, WARPS, {64}, CELL, if (lane == 0) { NAP NAP })
ROUNDS(nap_lane_4, WARPS, {64}, CELL, if (lane == 0) { REP4(NAP) })
ROUNDS(nap_lane_4_sync, WARPS, {64}, CELL, if (lane == 0) { REP4(NAP) } SYNC)
ROUNDS(nap_lane_add, WARPS, {64}, CELL, if (lane == 0) { REP4(ADD) NAP REP4(ADD) })
ROUNDS(nap_half, WARPS, {64}, CELL, if (lane < 16) { NAP })
ROUNDS(nap_odd, WARPS, {64}, CELL, if (lane % 2) { NAP })
ROUNDS(nap_else_loop, WARPS, {64}, CELL, if (lane == 0) { NAP } else { LOOP })
ROUNDS(nap_else_nap, WARPS, {64}, CELL, if (lane == 0) { NAP x += z & zero; } else { NAP z += y & zero; })
ROUNDS(nap_in_if, WARPS, {64}, CELL, if (lane < 16) { x += y & zero; if (lane < 8) { NAP } z += y & zero; LOAD })
// A word that nobody changes, looked at four times a round; without a sleep, with one.
#define LOOK(limit, rest)                                                                                             \
  _Pragma("unroll 1") for (unsigned k = 0; k <= limit; k++) {                                                         \
    LOAD if (x) break;                                                                                                \
    rest                                                                                                              \
  }
ROUNDS(look_all, WARPS, {64}, CELL, LOOK(y, ))
ROUNDS(look_all_nap, WARPS, {64}, CELL, LOOK(y, NAP))
ROUNDS(look_lane, WARPS, {64}, CELL, if (lane == 0) { LOOK(y, ) })
ROUNDS(look_lane_nap, WARPS, {64}, CELL, if (lane == 0) { LOOK(y, NAP) })
ROUNDS(look_lane_sync, WARPS, {64}, CELL, if (lane == 0) { LOOK(y, ) } SYNC)
ROUNDS(look_lane_nap_sync, WARPS, {64}, CELL, if (lane == 0) { LOOK(y, NAP) } SYNC)
ROUNDS(look_half_nap, WARPS, {64}, CELL, if (lane < 16) { LOOK(y, NAP) })
// Lanes leave one by one.
ROUNDS(leave_4, WARPS, {64}, CELL, LOOK(lane % 4 + (y & zero), ))
ROUNDS(leave_4_nap, WARPS, {64}, CELL, LOOK(lane % 4 + (y & zero), NAP))
ROUNDS(leave_2_nap, WARPS, {64}, CELL, LOOK(lane % 2 + (y & zero), NAP))
// Lane 0 alone, the others have exited.
#define ALONE(name, ...)                                                                                              \
  BENCH(name, WARPS, {64}) {                                                                                          \
    unsigned lane = threadIdx.x % 32, x = lane & zero, y = x + 3, z = x * lane + 7;                                   \
    CELL;                                                                                                             \
    __syncthreads();                                                                                                  \
    if (lane)                                                                                                         \
      return;                                                                                                         \
    unsigned start = clock_now();                                                                                     \
    _Pragma("unroll 1") for (unsigned i = 0; i < n; i++) { __VA_ARGS__ }                                                    \
    end_row(took, start, x + y + z + lane);                                                                           \
  }
ALONE(alone_nap, NAP)
ALONE(alone_look, LOOK(y, ))
ALONE(alone_look_nap, LOOK(y, NAP))
// Long sleeps, that end with the timer.
ROUNDS(nap_100, WARPS, {256}, CELL, NAP_OF(100 + (y & zero)))
ROUNDS(nap_100_lane, WARPS, {256}, CELL, if (lane == 0) { NAP_OF(100 + (y & zero)) })
ROUNDS(nap_100_lane_sync, WARPS, {256}, CELL, if (lane == 0) { NAP_OF(100 + (y & zero)) } SYNC)
ROUNDS(nap_400_lane, WARPS, {256}, CELL, if (lane == 0) { NAP_OF(400 + (y & zero)) })
ROUNDS(look_lane_nap_100, WARPS, {256}, CELL, if (lane == 0) { LOOK(y, NAP_OF(100 + (y & zero))) })
// Locks: lane 0 of each warp takes a lock of the block, and gives it back; nobody sets a parameter from these.
#define TRY asm volatile("atom.shared.cas.b32 %0, [%1], 0, 1;" : "=r"(x) : "r"((unsigned)__cvta_generic_to_shared(cells)) : "memory");
#define GIVE asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(cells)), "r"(zero) : "memory");
#define TAKE(rest) for (;;) { TRY if (!x) break; rest }
ROUNDS(lock_lane, WARPS, {64}, CELL, if (lane == 0) { TAKE() REP16(ADD) GIVE })
ROUNDS(lock_lane_nap, WARPS, {64}, CELL, if (lane == 0) { TAKE(NAP) REP16(ADD) GIVE })
ROUNDS(lock_lane_sync, WARPS, {64}, CELL, if (lane == 0) { TAKE() } SYNC REP16(ADD) SYNC if (lane == 0) { GIVE } SYNC)
ROUNDS(lock_lane_nap_sync, WARPS, {64}, CELL, if (lane == 0) { TAKE(NAP) } SYNC REP16(ADD) SYNC if (lane == 0) { GIVE } SYNC)
ROUNDS(lock_lane_nap_100_sync, WARPS, {64}, CELL, if (lane == 0) { TAKE(NAP_OF(100 + (y & zero))) } SYNC REP16(ADD) SYNC if (lane == 0) { GIVE } SYNC)
