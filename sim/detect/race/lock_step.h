/* lock_step.h - words of shared memory by which lanes of one warp tell each other something without __syncwarp(), as
 * warps did that ran in lock-step: `s[t] += s[t + 8];` of a volatile array. The accesses are strong, so they are no
 * race; but PTX orders lanes of a warp only by barriers, `.sync` operations and hand-offs, and since Volta lanes may
 * run apart.
 *
 * Found where a lane loads what another lane has stored by an instruction that both executed together, or stores
 * over what another lane has loaded so, and the word's value is another one before and behind the store. Not where
 * the lanes have met since, nor where one of the warp has waited for something or tried for it (polling.h, atomic
 * operations): then values may pass on purpose. That the program rests on the order isn't known then: each finding
 * has loads to be tried (older.h), which give the value of the other order, and becomes a note if that does no harm.
 *
 * On machines whose lanes don't run in lock-step, in PTX for sm_70 and later; words of 32 bits of a block's own
 * shared memory.
 * Ownership: a RaceDetector owns it. */
#ifndef LOCKSTEP_DETECT_RACE_LOCK_STEP_H
#define LOCKSTEP_DETECT_RACE_LOCK_STEP_H

#include "sim/detect/race/race_words.h"

typedef struct LockSteps LockSteps;

/* All are borrowed. */
LockSteps *lock_steps_new(const Gpu *gpu, RaceWatch *watch, GPtrArray *findings);
void lock_steps_free(LockSteps *steps);
/* A warp issues an access, just before it has its effect. */
void lock_steps_access(LockSteps *steps, const ProbePoint *point, const RaceAccess *access, const WarpOrder *warp);

#endif
