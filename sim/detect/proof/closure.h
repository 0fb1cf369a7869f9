/* closure.h - have all warps been seen to do all that they can ever do, though words change by turns?
 * Warps take a lock, look at what it guards, and give it back; or they count who is next, round and round. Then
 * nothing is ever still (stillness.h), and the exploration of lanes (explore.h) doesn't know what ballots and
 * shuffles give.
 *
 * Method: the run is watched. Of each word the values that it takes are kept. Of each warp, each look at memory (a
 * load, or an atomic operation) is kept by what decides about it: the warp's state (warp_digest.h) at a moment
 * when it waits for nothing, and what its looks found since then. Beside it stands what was found. It is enough
 * once each look has found all values that its word takes, if it looks at several words all that these may hold
 * together, and each of these looks has led to another one that is kept.
 *
 * Why that proves something: take any order of steps from there on, and the first step that wasn't seen. It can't
 * be a look that finds another value, since values are stored by steps that were seen. It can't be what a warp
 * does behind a look, since its state and what it finds decide that, and both were seen together. So there is no
 * such step, and nobody who hasn't finished ever does. Values that words hold one after the other are taken to be
 * possible all at once, as in the exploration.
 *
 * A word that only one warp comes to is part of that warp's state, which decides what it finds there.
 * Does not see through: what stillness.h doesn't; lock bits; words that take more than a few values, as counters
 * that rise do; atomic operations of several lanes on a word that changes; a value that is looked for and never
 * comes up while the run is watched. */
#ifndef LOCKSTEP_DETECT_PROOF_CLOSURE_H
#define LOCKSTEP_DETECT_PROOF_CLOSURE_H

#include "sim/detect/proof/circle.h"

typedef struct Closure Closure;

/* Nothing was seen so far. */
Closure *closure_new(Gpu *gpu);
/* NULL is fine. */
void closure_free(Closure *closure);
/* Runs on until that is known, for `share` instructions at the most, or some thousands for each warp, up to
 * CIRCLE_SHARE_LEAST, if these are more. What was seen counts the next time, too, unless a warp has exited or a block
 * has come: it holds at any time, and what happened in between can't matter once all that can happen from now on has
 * been seen. NULL: it isn't known, or the run stopped (*stop says why). */
Circle *closure_watch(Closure *closure, uint64_t share, uint64_t limit_cycles, GpuStop *stop);
/* Something came up that it doesn't see through. It may have been of the time before all went round: another
 * Closure may do better. */
bool closure_gave_up(const Closure *closure);
/* All warps had looks in the newest window, and all that happened had been seen before, yet something that may happen
 * hasn't: it doesn't come up in this schedule. */
bool closure_is_usual(const Closure *closure);

#endif
