/* lost_update.h - updates that are lost: a thread loads a word and stores there what it has made of that (updates.h),
 * and another thread has stored to it between. All three are volatile, relaxed or stronger, so there is no data race.
 *
 * Found where it happens in a run, and nowhere else: nothing that the program says orders the load before the other
 * store, or that before the thread's own, even if each hand-off did without fences; the word holds another value than
 * was loaded; and what is stored doesn't have the other thread's change. So threads that hold one lock lose nothing,
 * nor do those that all store the same behind a barrier.
 * Of a maximum or minimum (`if (x < v) x = v`) the loss must last: a fixpoint stores the value again, and that is all
 * right (lost_extremes.h).
 * Lanes of one warp aren't compared with each other: a warp that stores alike in all lanes makes one update.
 * Global memory and a block's own shared memory, 32 and 64 bits.
 * Bounded: beyond WORDS_MAX words with loads that wait for their stores updates are missed.
 * Ownership: a RaceDetector owns it. */
#ifndef LOCKSTEP_DETECT_RACE_LOST_UPDATE_H
#define LOCKSTEP_DETECT_RACE_LOST_UPDATE_H

#include "sim/detect/race/lost_extremes.h"

typedef struct LostUpdates LostUpdates;

/* Both are borrowed, as are the findings, to which new ones are added. */
LostUpdates *lost_updates_new(const Gpu *gpu, const RaceOrder *order, GPtrArray *findings);
void lost_updates_free(LostUpdates *updates);
/* A block of that launch begins. */
void lost_updates_begin(LostUpdates *updates, const Launch *launch);
/* False: no kernel that has begun can have one, and what is performed needn't be told. */
bool lost_updates_wants(const LostUpdates *updates);

/* Some lanes of an access, just before it has its effect. */
void lost_updates_access(LostUpdates *updates, const UpdateAccess *access);
/* A block ends, whose shared memory goes; the run does. */
void lost_updates_end(LostUpdates *updates, const ProbePoint *point);
void lost_updates_finish(LostUpdates *updates);

#endif
