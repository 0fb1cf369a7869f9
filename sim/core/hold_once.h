/* hold_once.h - one warp is held up, once (sm.held_once): behind an access that others may wait for, or a fence or a
 * barrier, or before its first instruction. `check` makes a run for each such place of a short program: what goes
 * wrong if one thread stands still there for a while, as where a waiter gives its lock back and then looks whether it
 * was woken. (CHESS: Musuvathi et al., OSDI 2008: few preemptions, well placed, show most such bugs.)
 * A launch's places are, for the first time that its warps come by and then for the second, its instructions that
 * synchronise, with the warp's start in front, and for each of these its warps, up to HOLD_WARPS of them. */
#ifndef LOCKSTEP_CORE_HOLD_ONCE_H
#define LOCKSTEP_CORE_HOLD_ONCE_H

#include "sim/core/state.h"

/* Others may wait for it, or it for others: an access that is no plain one of PTX, a fence or a barrier. */
bool hold_is_place(const Inst *inst, Dialect dialect);
/* How many places a launch of so many warps has. */
uint64_t hold_once_places(const Kernel *kernel, Dialect dialect, uint64_t warps);
/* A launch is added: it may be the one. */
void hold_once_launch(Gpu *gpu, const Launch *launch);
/* How many cycles the warp is held up behind the instruction; before its first one. */
uint64_t hold_once_behind(const Issue *issue);
uint64_t hold_once_start(const Gpu *gpu, const Block *block, uint32_t warp_in_block);
/* Somebody was held up. */
bool hold_once_was(const Gpu *gpu);

#endif
