/* race_reliance.h - strong loads that rely on an order which nothing guarantees: unordered-access.
 * A load relies on one where it sees a strong write of another thread, a hand-off by another word comes between the
 * two, and nothing in the model orders them. One that waits in a loop, is tried again, or is only a guess doesn't,
 * nor does one that finds the same value whichever of the writes it misses. */
#ifndef LOCKSTEP_DETECT_RACE_RACE_RELIANCE_H
#define LOCKSTEP_DETECT_RACE_RACE_RELIANCE_H

#include "sim/detect/race/race_words.h"

/* Before the warp takes what words of the step hand on, those of its other parts included. `flight`: of the step, or
 * NULL. */
void race_reliance_check(Step *step, const RaceFlight *flight);
/* The load at `pc` of a launch waits in a loop, or is tried again, or is only a guess. */
bool race_reliance_waits(RaceWatch *watch, const Kernel *kernel, uint32_t pc);
/* Tells of loads that waited until what is under way before them has been performed: those that wait no longer, or
 * all of them. */
void race_reliance_settle(RaceWatch *watch, bool all);

#endif
