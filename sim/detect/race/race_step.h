/* race_step.h - one access of a warp or the host, as the race detector sees it: whom it races with, what it takes from others and
 * hands on.
 *
 * An access to global memory comes in steps: it is issued, and its lanes are performed. The happens-before order only points
 * forwards in the order of issue, since whatever takes a hand-off is waited for: so what an access races with shows when the later
 * of the two is issued. Only an access that takes a hand-off itself is later than its issue, and only when a CAS is performed it
 * is known whether it writes: races of strong accesses that read wait until then (race_flight.h). What a word hands on, and who
 * reads from whom, follows the order in which accesses are performed. */
#ifndef LOCKSTEP_DETECT_RACE_RACE_STEP_H
#define LOCKSTEP_DETECT_RACE_RACE_STEP_H

#include "sim/detect/race/race_words.h"

/* An access that is issued and performed at once: to shared memory, or by the host (`point` has no block). */
void race_step(RaceWatch *watch, const ProbePoint *point, WarpOrder *warp, const RaceAccess *access);
/* A store to shared memory that begins now, and is told as an access later: what it races with already. */
void race_look(RaceWatch *watch, const ProbePoint *point, WarpOrder *warp, const RaceAccess *access);
/* Access `number` to global memory is issued; lanes of it are performed. */
void race_issue(RaceWatch *watch, const ProbePoint *point, WarpOrder *warp, const RaceAccess *access,
                uint64_t number);
void race_perform(RaceWatch *watch, const ProbePoint *point, const AccessPart *part);
/* Lane 0 of the warp that has issued an access that is under way; THREAD_HOST: it isn't known. */
ThreadId race_issuer(const RaceWatch *watch, uint64_t number);
/* That warp as of its issue; false: it isn't known. */
bool race_issued_by(const RaceWatch *watch, uint64_t number, WarpOrder *then);
/* Tells what waited until something was performed that has been now, or (`all`) the run is over. */
void race_settle(RaceWatch *watch, bool all);

#endif
