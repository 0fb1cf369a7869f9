/* repetition.h - do all warps go on doing what they have done before? For livelocks of several warps whose common
 * state doesn't come back soon (recurrence.h), since each goes round in a time of its own.
 *
 * The run is watched for a while. Of each warp the states (warp_digest.h) are kept in which it goes on and waits for
 * nothing, of memory what it holds after each change. If in the second half hardly anything is new, for each single
 * warp and for memory, and no register and no word takes a new value, nothing leads out of what they do under this
 * schedule. That is no proof: another order may. A warp that counts, works or climbs on makes new states, or new
 * values, however seldom; one that sleeps or waits all the while isn't seen often enough; what is counted in memory
 * makes new contents. */
#ifndef LOCKSTEP_DETECT_PROOF_REPETITION_H
#define LOCKSTEP_DETECT_PROOF_REPETITION_H

#include <glib.h>

#include "sim/core/gpu.h"

/* What registers and words have held in watches, as numbers; and how many watches one behind the other showed
 * repetition, in all but the first of which no register and no word held anything else. */
typedef struct RepetitionSeen {
  GHashTable *registers, *words;
  unsigned repeats;
} RepetitionSeen;

RepetitionSeen *repetition_seen_new(void);
/* NULL is fine. */
void repetition_seen_free(RepetitionSeen *seen);

/* Runs on for as many instructions as the warps need, if these are no more than `share` or CIRCLE_SHARE_LEAST. True
 * if all only repeated what they had done. False if they didn't, or the run stopped (*stop says why). */
bool repetition_watch(Gpu *gpu, RepetitionSeen *seen, uint64_t share, uint64_t limit_cycles, GpuStop *stop);

#endif
