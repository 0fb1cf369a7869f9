/* race_observer.h - a race of a strong write with an access that was issued before it, while accesses of that one's
 * warp to the same word were under way: `atomicExch(&lock, 0); lock = 0;`, and somebody stores to `lock` between the
 * two. The exchange may be performed behind that store, and observe it. Then the store comes before what stands
 * behind the exchange, although it was issued later, and there is no race. So such a race waits until the accesses
 * under way are performed. They may be another warp's, which the access comes behind by a barrier.
 *
 * Generous: an access of other lanes of the warp, or of another warp, comes behind the observer, if it does so by now.
 * Bounded: beyond HELD_MAX races are missed. */
#ifndef LOCKSTEP_DETECT_RACE_RACE_OBSERVER_H
#define LOCKSTEP_DETECT_RACE_RACE_OBSERVER_H

#include "sim/detect/race/race_words.h"

/* The step's strong access `write` races with `first`, and `step->race` has that race and no other. True: the race
 * waits. `moment`: of the write's issue. */
bool race_observer_waits(const Step *step, const WarpMoment *moment, const Access *write, const Access *first);
/* Access `number` has been performed, or some of its lanes. */
void race_observer_performed(RaceWatch *watch, uint32_t number, uint32_t chain);
/* The step's strong access to the group's word is performed, by `access`, which reads. `now`: its warp, if that
 * hasn't exited; else NULL. */
void race_observer_reads(const Step *step, const WarpOrder *now, const Group *group, const Access *access,
                         const AccessOrder *order);
/* Tells the races that nothing under way can end any more, or all. */
void race_observer_settle(RaceWatch *watch, bool all);
/* Frees them. */
void race_observer_forget(RaceWatch *watch);

#endif
