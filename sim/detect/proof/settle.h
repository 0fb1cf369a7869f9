/* settle.h - has everybody come to rest? The proof (explore.h) may come early, while threads still compute on their way to
 * where they will hang: then what they wait for can't be named yet. A warp has settled once it has issued, within one
 * window, every instruction that its lanes can still come to. */
#ifndef LOCKSTEP_DETECT_PROOF_SETTLE_H
#define LOCKSTEP_DETECT_PROOF_SETTLE_H

#include "sim/detect/proof/explore.h"

typedef struct Settle {
  GHashTable *seen; /* Warp * -> the instructions at which it stood in the window; never iterated */
} Settle;

/* Runs a window, longer for more warps, and notes where the unfinished ones stand. Forgets an earlier window. */
GpuStop settle_watch(Settle *settle, Gpu *gpu, uint64_t limit_cycles);
/* Also for a Settle that is all zero. */
void settle_clear(Settle *settle);
/* True if no warp of a finished proof can come to an instruction at which the window didn't see it. */
bool settle_done(const Settle *settle, const Explorer *explorer);

#endif
