/* livelock.h - states recur although nobody is proved to wait for ever: is there an order of steps that ends it?
 * It is looked for by running on from the state that recurs, one warp at a time while all others are held: first each
 * warp alone, then turns at random: short ones, long ones, such that end where it comes to memory or has changed it,
 * and such before which all others stop at one such place. What is found is an order that the machine may take, with
 * the steps to show. */
#ifndef LOCKSTEP_DETECT_LIVELOCK_H
#define LOCKSTEP_DETECT_LIVELOCK_H

#include "sim/core/gpu.h"
#include "sim/detect/naming/finding.h"
#include "sim/detect/proof/circle.h"

/* The finding, made by driving the machine on; the run can't be continued. NULL if no warp is left. *ends: there is
 * such an order. */
Finding *livelock_report(Gpu *gpu, bool *ends);
/* The same where only `warp` can issue, so that there is no other order. `in_step`: its lanes are known to try for
 * words together. */
Finding *livelock_report_alone(Gpu *gpu, const Warp *warp, bool in_step);
/* True if each of the first `count` findings is about a word that a thread has taken since then, by a
 * compare-and-swap or an exchange: who waits for it comes too late each time, but it is given back. */
bool livelock_takes_all(const Gpu *gpu, const GPtrArray *findings, guint count, uint64_t since);
/* The same where all warps go round for ever, in whatever order. */
Finding *livelock_report_circle(const Gpu *gpu, const Circle *circle);

#endif
