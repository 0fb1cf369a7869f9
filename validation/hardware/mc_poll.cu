// Polls of shared memory: what the other lanes of the warp do meanwhile, beside other warps; warps and lanes that hand a turn round; locks; fences with
// nothing under way.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mc_poll mc_poll.cu; -cubin, -ptx for the files beside it
#include "mc.cuh"

#define STEP asm volatile("lop3.b32 %0, %0, %1, %2, 0x6a;" : "+r"(x) : "r"(y), "r"(z));

// `patience` polls of a word that stays 0.
__device__ __forceinline__ void spin(volatile unsigned *word, int patience) {
  while (*word == 0 & --patience > 0)
    ;
}
__device__ __forceinline__ void spin_or(volatile unsigned *word, int patience) {
  while (*word == 0 && --patience)
    ;
}
__device__ __forceinline__ void spin_cas(unsigned *word, int patience) {
  while (atomicCAS(word, 1, 2) == 0 && --patience)
    ;
}
__device__ __forceinline__ void spin_exch(unsigned *word, int patience) {
  while (atomicExch(word, 0) == 0 && --patience)
    ;
}
__device__ __forceinline__ void spin_add(unsigned *word, int patience) {
  while (atomicAdd(word, 0) == 0 && --patience)
    ;
}

#define POLL(name, warps, before, round)                                                                              \
  BENCH(name, warps, {256}) {                                                                                         \
    __shared__ volatile unsigned word[64];                                                                            \
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, x = lane & zero, y = x + 3, z = x * lane + 7;          \
    if (threadIdx.x < 64)                                                                                             \
      word[threadIdx.x] = 0;                                                                                          \
    __syncthreads();                                                                                                  \
    unsigned start = clock_now();                                                                                     \
    before;                                                                                                           \
    round;                                                                                                            \
    end_row(took, start, x + y + z + warp);                                                                           \
  }
#define ONE {1}
#define SOME {1, 2, 4, 5, 8, 9, 16, 32}
POLL(poll_all, SOME, , spin(word, n))
POLL(poll_all_and, SOME, , spin_or(word, n))
POLL(poll_cas, SOME, , spin_cas((unsigned *)word + warp, n))
POLL(poll_exch, SOME, , spin_exch((unsigned *)word + warp, n))
POLL(poll_add, SOME, , spin_add((unsigned *)word + warp, n))
// Lane 0 alone: the others have exited, wait behind the if, wait at a __syncwarp().
POLL(poll_lane_exited, SOME, if (lane) return, spin(word, n))
POLL(poll_lane_meets, SOME, , if (lane == 0) spin(word, n); STEP)
POLL(poll_lane_meets_and, SOME, , if (lane == 0) spin_or(word, n); STEP)
POLL(poll_lane_syncwarp, SOME, , if (lane == 0) spin(word, n); __syncwarp())
POLL(poll_half_exited, SOME, if (lane >= 16) return, spin(word, n))
POLL(poll_half_meets, SOME, , if (lane < 16) spin(word, n); STEP)
POLL(poll_half_syncwarp, SOME, , if (lane < 16) spin(word, n); __syncwarp())
POLL(poll_cas_lane_meets, SOME, , if (lane == 0) spin_cas((unsigned *)word + warp, n); STEP)
POLL(poll_exch_lane_meets, SOME, , if (lane == 0) spin_exch((unsigned *)word + warp, n); STEP)
// Lanes poll in both sides of a branch; each lane has a patience of its own.
POLL(poll_sides, SOME, , if (lane < 16) spin(word, n); else spin(word + 32, n); STEP)
POLL(poll_patience, SOME, , spin(word + lane, n / 2 + lane * 4))
POLL(poll_patience_and, SOME, , spin_or(word + lane, n / 2 + lane * 4))
// Warp 0 polls; the others wait at the barrier, compute, or have exited.
POLL(poll_beside_barrier, SOME, , if (warp == 0) spin(word, n); __syncthreads())
POLL(poll_beside_alu, SOME, , if (warp == 0) spin(word, n); else for (unsigned i = 0; i < 16 * n; i++) STEP)
POLL(poll_meets_beside_alu, SOME, , if (warp == 0) { if (lane == 0) spin(word, n); } else for (unsigned i = 0; i < 16 * n; i++) STEP)
POLL(poll_beside_exited, SOME, if (warp) return, spin(word, n))

// ---- a turn goes round: n rounds of all warps, or of so many lanes of each warp; all wait for their own number ----

#define ROUND_TRIP(name, warps, rounds, offset, pass)                                                                 \
  BENCH(name, warps, rounds) {                                                                                        \
    __shared__ volatile unsigned turn[32];                                                                            \
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, all = blockDim.x / 32;                                 \
    if (threadIdx.x < 32)                                                                                             \
      turn[threadIdx.x] = 0;                                                                                          \
    __syncthreads();                                                                                                  \
    for (unsigned from = clock_now(); clock_now() - from < (offset) * warp;)                                          \
      ;                                                                                                               \
    unsigned start = clock_now();                                                                                     \
    int patience = 10000;                                                                                             \
    for (unsigned i = 0; i < n; i++) { pass }                                                                         \
    end_row(took, start, lane + warp + all + patience);                                                               \
  }
#define WAIT(word, value) while ((word) != (value) & --patience > 0)
#define CHAIN_WARPS {2, 4, 5, 8, 16, 32}
#define PASS_LANE if (lane == 0) { WAIT(turn[0], i * all + warp); turn[0] = i * all + warp + 1; }
#define PASS_SYNCWARP if (lane == 0) { WAIT(turn[0], i * all + warp); turn[0] = i * all + warp + 1; } __syncwarp();
#define PASS_ALL WAIT(turn[0], i * all + warp); turn[0] = i * all + warp + 1; __syncwarp();
#define PASS_FENCE if (lane == 0) { WAIT(turn[0], i * all + warp); __threadfence_block(); turn[0] = i * all + warp + 1; }
#define PASS_OWN if (lane == 0) { WAIT(turn[warp], i + (warp == 0 ? 0 : 1)); turn[(warp + 1) % all] = warp + 1 == all ? i + 1 : i + 1; }
#define OFFSETS(name, pass)                                                                                           \
  ROUND_TRIP(name##_o0, CHAIN_WARPS, {16}, 0, pass)                                                                   \
  ROUND_TRIP(name##_o1, CHAIN_WARPS, {16}, 37, pass)                                                                  \
  ROUND_TRIP(name##_o2, CHAIN_WARPS, {16}, 61, pass)                                                                  \
  ROUND_TRIP(name##_o3, CHAIN_WARPS, {16}, 103, pass)                                                                 \
  ROUND_TRIP(name##_o4, CHAIN_WARPS, {16}, 149, pass)
OFFSETS(chain_lane, PASS_LANE)
OFFSETS(chain_syncwarp, PASS_SYNCWARP)
OFFSETS(chain_all, PASS_ALL)
OFFSETS(chain_fence, PASS_FENCE)
OFFSETS(chain_own, PASS_OWN)

// Lanes of a warp, `lanes` of them, take turns.
#define TURNS(lanes, pass)                                                                                            \
  __shared__ volatile unsigned turn[32];                                                                              \
  __shared__ unsigned lock[32], sum;                                                                                  \
  turn[warp] = 0, lock[warp] = 0, sum = 0;                                                                            \
  __syncthreads();                                                                                                    \
  int patience = 3000;                                                                                                \
  unsigned start = clock_now();                                                                                       \
  if (lane < lanes)                                                                                                   \
    for (unsigned i = 0; i < n; i++) { pass }                                                                         \
  end_row(took, start, lane + warp + patience + sum + lock[warp])
#define LANES(name, lanes, pass)                                                                                      \
  BENCH(name##_##lanes, FEW, {8}) { unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32; TURNS(lanes, pass); }
#define FEW {1, 4, 16}
#define TAKE_TURN WAIT(turn[warp], i * 8 + lane); turn[warp] = i * 8 + lane + 1;
#define TAKE_TURN_2 WAIT(turn[warp], i * 2 + lane); turn[warp] = i * 2 + lane + 1;
#define TAKE_TURN_32 WAIT(turn[warp], i * 32 + lane); turn[warp] = i * 32 + lane + 1;
LANES(turns, 2, TAKE_TURN_2)
LANES(turns, 8, TAKE_TURN)
LANES(turns, 32, TAKE_TURN_32)
#define LOCKED while (atomicCAS(&lock[warp], 0, 1) != 0 & --patience > 0); sum++; __threadfence_block(); atomicExch(&lock[warp], 0);
#define LOCKED_DONE                                                                                                   \
  for (bool done = false; !done & --patience > 0;)                                                                    \
    if (atomicCAS(&lock[warp], 0, 1) == 0) { sum++; __threadfence_block(); atomicExch(&lock[warp], 0); done = true; }
LANES(lock, 1, LOCKED)
LANES(lock, 2, LOCKED)
LANES(lock, 8, LOCKED)
LANES(lock, 32, LOCKED)
LANES(lock_done, 2, LOCKED_DONE)
LANES(lock_done, 8, LOCKED_DONE)
LANES(lock_done, 32, LOCKED_DONE)
// A lock of all warps, one lane of each.
#define LOCKED_BLOCK if (lane == 0) { while (atomicCAS(&lock[0], 0, 1) != 0 & --patience > 0); sum++; __threadfence_block(); atomicExch(&lock[0], 0); }
#define BLOCK_LOCKS {2, 4, 8, 16, 32}
BENCH(lock_block, BLOCK_LOCKS, {8}) { unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32; TURNS(32, LOCKED_BLOCK); }

// ---- fences with nothing under way; behind loads that have come ----

#define FENCES(name, fence) ROUNDS(fence_##name, WARPS_EACH, {16}, , REP4(fence; STEP))
FENCES(block, __threadfence_block())
FENCES(device, __threadfence())
FENCES(system, __threadfence_system())
FENCES(acq_rel_block, asm volatile("fence.acq_rel.cta;" ::: "memory"))
FENCES(acq_rel_device, asm volatile("fence.acq_rel.gpu;" ::: "memory"))
ROUNDS(fence_block_shared_store, WARPS_EACH, {16}, __shared__ volatile unsigned cell[1024], REP4(cell[threadIdx.x] = i; __threadfence_block(); STEP))
FENCES(block_load, x += *(volatile unsigned *)(words + threadIdx.x); __threadfence_block())

// ---- sleeping ----

ROUNDS(sleep_0, FEW, {16}, , __nanosleep(0);)
ROUNDS(sleep_20, FEW, {16}, , __nanosleep(20);)
