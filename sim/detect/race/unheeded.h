/* unheeded.h - attempts at a lock whose outcome nobody heeds: `atomicCAS(&lock, 0, 1);` and then the critical
 * section, or a call of a function that tries for the lock without a look at what it returns.
 *
 * Such an attempt is a compare-and-swap of two constants (or an exchange for one), which each way to an access
 * passes, and whose word a later atomic operation or strong store sets back to the first of the two; and its result
 * doesn't decide whether the access happens (decides.h). It explains a finding; it is none by itself: an attempt may
 * be there for something else. */
#ifndef LOCKSTEP_DETECT_RACE_UNHEEDED_H
#define LOCKSTEP_DETECT_RACE_UNHEEDED_H

#include "isa/program.h"

/* The last such attempt before the access at `pc`, or NO_TARGET. */
int32_t unheeded_attempt(const Kernel *kernel, uint32_t pc);

#endif
