/* recurrence.h - does the machine come back to a state it was in? For livelocks: no deadlock can be proved, since
 * another order would free somebody, and yet under this schedule nothing changes. The state is architectural:
 * program counters, SIMT stacks, memory words, lock bits, and those registers and predicates that reach a branch,
 * an address or a stored value (backward slice). Attempt counters that reach none are left out; who has come to
 * block barriers belongs to it. A warp that has waited for memory all the while, or slept, will go on: with one
 * the machine hasn't come back. Nor has it while an access to global memory is under way that was so when the
 * watch began: it may end what goes round. */
#ifndef LOCKSTEP_DETECT_PROOF_RECURRENCE_H
#define LOCKSTEP_DETECT_PROOF_RECURRENCE_H

#include "sim/core/gpu.h"

enum {
  RECURRENCE_WINDOW = 20000,   /* instructions watched; fewer if many warps have to be compared after each */
  RECURRENCE_DIGESTS = 400000, /* instructions times warps */
  RECURRENCES_NEEDED = 16,
  RECURRENCE_WARPS_MAX = 256,
};

/* Runs up to RECURRENCE_WINDOW instructions. True if the state at the start came back RECURRENCES_NEEDED times
 * without progress; false if it didn't, or the run stopped (*stop says why). */
bool recurrence_watch(Gpu *gpu, uint64_t limit_cycles, GpuStop *stop);

#endif
