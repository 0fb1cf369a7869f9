/* race_validated.h - what a second look at a word vouches for, though it needn't come behind it: the number of a
 * seqlock.
 *
 * A reader looks at the number, loads the words, looks at the number again, and takes what it has loaded for that of
 * one round if the number is still the same (validates.h). A writer changes the number before it stores. That holds
 * only if a fence (or acquire, or release) stands on both sides: between the reader's loads and its second look, and
 * between the writer's first store to the number and those to the words. Otherwise a load may find what was stored in
 * the middle of a round, and both looks the number from before it. Each of the accesses is strong, and nothing
 * depends on whether the words are new; no run need show it.
 *
 * Found where a warp stores to a word, behind its own store to the number, after the look of another warp vouched
 * for a load of that word, and nothing orders that load before the store. Words of global memory, stores that aren't
 * atomic operations, PTX; of each word the newest VOUCHED_MAX looks. So findings can be missed, none is invented.
 * Ownership: a RaceWatch owns it. */
#ifndef LOCKSTEP_DETECT_RACE_RACE_VALIDATED_H
#define LOCKSTEP_DETECT_RACE_RACE_VALIDATED_H

#include "sim/detect/race/race_words.h"

RaceValidated *race_validated_new(void);
void race_validated_free(RaceValidated *validated);
/* A strong access of a group is issued; it is performed. */
void race_validated_issued(Step *step, const Group *group);
void race_validated_performed(Step *step, const Group *group);
/* At the end: adds the findings; none where the run is made for a load of an older value, which they don't show the
 * harm of. */
void race_validated_finish(RaceWatch *watch);

#endif
