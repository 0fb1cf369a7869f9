/* attempts.h - for a doubt: what warps were handed by attempts at a lock, exchanges and compare-and-swaps.
 * One that leaves the word as it was (it stores 1 where there is 1 already, or finds another value than it expects)
 * was in vain: mostly it decides only that there is another round. So what it was handed counts for nothing but what
 * the warp does until it makes another attempt there, stores something else, or comes to a barrier; neither for what
 * comes behind that, nor for those to whom it hands on what it knows.
 * Generous: what the warp has counted or kept in registers may depend on attempts in vain. */
#ifndef LOCKSTEP_DETECT_RACE_ATTEMPTS_H
#define LOCKSTEP_DETECT_RACE_ATTEMPTS_H

#include "isa/program.h"
#include "sim/detect/race/warp_order.h"

/* The instruction is one. */
bool attempts_has(const Inst *inst);
/* The warp was handed what `attempt` has, which is copied. */
void attempts_take(WarpOrder *warp, const Attempt *attempt);
/* The warp goes on: the newest rounds that weren't in vain count for good. The caller has kept the warp's views. */
void attempts_settle(WarpOrder *warp);
/* One of the newest rounds decides the access of the doubt, and knows of that time of the actor. */
bool attempts_know(const WarpOrder *warp, uint32_t actor, uint32_t time);

#endif
