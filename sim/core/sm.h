/* sm.h - one streaming multiprocessor: resident blocks and warps, schedulers, shared memory and lock unit.
 * Time: an SM is one source of events for the machine. In a cycle it first takes replies of global memory; then each
 * of its schedulers, by number, may issue one warp instruction, each issue_interval cycles.
 * What it says of the whole machine goes by tell.h. */
#ifndef LOCKSTEP_CORE_SM_H
#define LOCKSTEP_CORE_SM_H

#include "sim/core/state.h"

/* An SM of the Gpu; or, with a number beyond its SMs, one to try things on, which gpu_run() doesn't run. */
void sm_init(Sm *sm, struct Gpu *gpu, uint32_t index);
void sm_clear(Sm *sm);
/* True if all limits allow one more block of the launch. */
bool sm_has_room(const Sm *sm, const Launch *launch);
/* How many more blocks of the launch they allow, up to `most`. */
uint32_t sm_room(const Sm *sm, const Launch *launch, uint32_t most);
/* Puts block `index` of `launch` on the SM if all limits allow it; its warps start at `now` (plus jitter). `cluster`,
 * which owns it from then on as a member: of several blocks; else NULL. */
bool sm_try_place(Sm *sm, Launch *launch, uint64_t index, struct Cluster *cluster, uint64_t now);
/* Runs the SM, whose event is due at `now`, for as long as no other source comes first. Returns when its next event
 * is due, which the caller puts into the queue; WHEEL_NEVER if it sleeps. */
uint64_t sm_run(Sm *sm, uint64_t now);
/* Runs it from `now`, when its event is due, up to cycle `end`, whatever the others do. Gpu.due says when its next is
 * due. */
void sm_run_until(Sm *sm, uint64_t now, uint64_t end);
/* A warp that has waited can issue from cycle `time` on, not before the operands of its next instruction are
 * ready. */
void sm_resume(Sm *sm, Warp *warp, uint64_t time);
/* How long a warp is held up behind an instruction that others may wait for, or that has waited for them
 * (sm.held_up). */
uint64_t sm_hold_up(Sm *sm);
/* The warp, which may have been held up (Gpu.noisy), can go on now. */
void sm_release(Sm *sm, Warp *warp, uint64_t now);
/* The warp can't go on for good, until sm_release(). */
enum { SM_HELD_CYCLES = 1 << 30 };
void sm_hold(Sm *sm, Warp *warp, uint64_t now);
/* The warp, which could go on by itself some time, won't. */
void sm_suspend(Sm *sm, Warp *warp);
/* What a warp that runs sleeps for: a cycle; or replies of global memory, to its accesses up to that number. */
typedef struct SmSleep {
  bool blocked;
  uint64_t until;
} SmSleep;
SmSleep sm_sleep(const Sm *sm, const Warp *warp);
/* The reply to an access of this SM comes in cycle `time`. */
void sm_answer(Sm *sm, Flight *flight, uint64_t time);
/* So many places on the way of its atomics are free in cycle `time`, that of the call before or later. */
void sm_free_places(Sm *sm, uint32_t turns, uint64_t time);
/* The place of a block that has exited is free: other blocks can have it. Done as it exits, but in a window with
 * blocks that wait. */
void sm_free_block(Sm *sm, Block *block);
/* Folds the touched bytes of a block's shared memory into the SM's counters. */
void sm_count_shared_bytes(Sm *sm, const Block *block);
/* Registers a block of this launch takes on an SM. */
uint32_t sm_block_registers(const Machine *machine, const Launch *launch);

#endif
