/* stillness.h - has everything come to rest, but for warps that look again at what no longer changes?
 * While no word changes, each warp finds what it would find if it ran by itself. If it comes back to a state that it
 * was in (warp_digest.h), then it goes round for ever, however others go on, and what it stores is there already. If
 * that is so of all warps that can issue, nothing ever changes again, in any order of steps. They needn't come back
 * at the same time: that is what a recurrence of the whole machine (recurrence.h) would want, to which warps that
 * poll side by side in circles of different lengths may not come.
 * Does not see through: clocks; instructions on block barriers; copies that go on by themselves; lanes that give way
 * to others of their warp (seen.h); warps that always have a load under way. */
#ifndef LOCKSTEP_DETECT_PROOF_STILLNESS_H
#define LOCKSTEP_DETECT_PROOF_STILLNESS_H

#include "sim/detect/proof/circle.h"

/* Runs on until all warps that can issue have gone round while nothing changed, and what they had under way is
 * performed. Returns how they go round. NULL: something changed, or some warp took too long, or all took more than
 * `share` instructions (or CIRCLE_SHARE_LEAST); or the run stopped (*stop says why). */
Circle *stillness_watch(Gpu *gpu, uint64_t share, uint64_t limit_cycles, GpuStop *stop);

#endif
