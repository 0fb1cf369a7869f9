/* race_older.h - loads that can't tell a value from an older one: a thread goes on because it read a word as it was
 * left by another thread's last store, but might have read the same value from before that thread's store to it,
 * since nothing orders that store before the load. In that execution nothing is handed over, and both go on.
 *
 * So locks of loads and stores break (Dekker's, Peterson's, the bakery): each thread stores to its own word, then
 * loads the other's, and PTX orders a store before a later load of another word by fence.sc on both sides alone (or
 * where atomic operations on one word observe each other). Release, acquire and fence.acq_rel don't.
 *
 * Of each word the newest values are kept, with the write that ended each. A strong load reads value v. Going back
 * from the newest: a value that the reader has seen the end of, or that its own store ended, or that a write ended
 * which comes before the load, can't be read any more, nor any older one. If v is found before that, what the load
 * took is in doubt. A load that spins counts from its first round: what the spinning itself told the reader it might
 * not have read.
 *
 * That is no finding yet: a compare-and-swap on the word may follow, which reads the newest value for certain, or the
 * threads do nothing that conflicts. So each such load becomes a finding in doubt (EDIT_OLDER), and the run is made
 * again with what the older value handed on instead. The finding stands if an access races then that didn't before,
 * or an update (`x++` on a volatile) relies on an order that isn't there: what runs is the same up to the first such
 * access.
 *
 * Generous: sequentially consistent fences count in the order in which they were executed, for all that acquire
 * later, too. Words beyond DOUBTED_WORDS_MAX, loads beyond LOOKS_MAX and values beyond PAST_VALUES_MAX are forgotten;
 * what a load might have given is known of more words (PAST_WORDS_MAX).
 * Looks at global memory, at single words, and at PTX only. So findings can be missed, none is invented. */
#ifndef LOCKSTEP_DETECT_RACE_RACE_OLDER_H
#define LOCKSTEP_DETECT_RACE_RACE_OLDER_H

#include "sim/detect/race/race_words.h"

/* Before it takes what the group's word hands on: a strong load of a group is performed. False, or, where the trial
 * asks what comes of it, true, and `value` is the older one, good until the next write. */
bool race_older_reads(Step *step, const WarpMoment *moment, const Group *group, OlderValue *value);
/* Before it hands on: a strong write of a group is performed. */
void race_older_writes(Step *step, const Group *group);
/* The lanes have read the newest value of a word of their block's shared memory, and can't read an older one. */
void race_older_sees(Step *step, const Group *group);
/* What the load of a group, which is being performed, might give instead of its word's newest value. */
OlderReading race_older_before(const Step *step, const Group *group);
/* Where loads of the run give older values (older_load.h): this one does, and takes nothing that is handed on. */
bool race_older_again(const Step *step, const Group *group);
/* The warp issues its next access: a load in doubt that it doesn't just repeat or confirm was in earnest. */
void race_older_next(RaceWatch *watch, const ProbePoint *point, const WarpOrder *warp, const RaceAccess *access);
/* At the end: adds the findings in doubt. */
void race_older_finish(RaceWatch *watch);

void race_older_init(RaceOlder *older);
void race_older_clear(RaceOlder *older);

#endif
