/* hold_once.h - one warp is held up, once (sm.held_once): behind an access that others may wait for, or a fence or a
 * barrier, or before its first instruction. `check` makes a run for each such place of a short program: what goes
 * wrong if one thread stands still there for a while, as where a waiter gives its lock back and then looks whether it
 * was woken. (CHESS: Musuvathi et al., OSDI 2008: few preemptions, well placed, show most such bugs.)
 * The places of a launch are its instructions that synchronise, and before them its start, for each of its warps.
 * Those of all launches have the numbers from 1 on for the first time that the warp comes there, then for the second
 * time, and so on. */
#ifndef LOCKSTEP_CORE_HOLD_ONCE_H
#define LOCKSTEP_CORE_HOLD_ONCE_H

#include "sim/core/state.h"

/* Others may wait for it, or it for others: an access that is no plain one of PTX, a fence or a barrier. */
bool hold_is_place(const Inst *inst, Dialect dialect);
/* How many places a launch has, for one time. */
uint64_t hold_once_places(const Launch *launch);
/* The number of a place: behind the instruction at `pc`, or HOLD_START; the warp is the launch's, block by block;
 * `time` counts from 0. 0: it is too large for one. */
uint32_t hold_once_number(const Gpu *gpu, const Launch *launch, uint32_t pc, uint64_t warp, uint32_t time);
/* All launches are there: finds the place of sm.held_once. */
void hold_once_begin(Gpu *gpu);
/* How many cycles the warp is held up behind the instruction; before its first one. */
uint64_t hold_once_behind(const Issue *issue);
uint64_t hold_once_start(const Gpu *gpu, const Block *block, uint32_t warp_in_block);
/* Somebody was held up. */
bool hold_once_was(const Gpu *gpu);

#endif
