/* reduction.h - what a BAR.RED may give, by what the lanes of its block may bring and what some are sure to bring.
 * Who asks is explored again when they may bring more. */
#ifndef LOCKSTEP_DETECT_PROOF_REDUCTION_H
#define LOCKSTEP_DETECT_PROOF_REDUCTION_H

#include "sim/detect/proof/view.h"

/* What a reduction may give: a predicate of either value, or a number between two. */
typedef struct Reduced {
  bool may[2];
  uint32_t low, high; /* BAR.RED.POPC */
} Reduced;

/* Of barrier `id`, to a lane that comes and brings `mine`. */
Reduced reduction_of_comer(const WarpView *view, uint32_t id, BarMode mode, unsigned lane, bool mine);
/* The same to lanes that wait there as the machine was found. What they brought is in the barrier already. */
Reduced reduction_of_waiters(const WarpView *view, uint32_t id, BarMode mode);
/* Where nothing is known of the others. */
Reduced reduction_with_anybody(BarMode mode, bool mine);

#endif
