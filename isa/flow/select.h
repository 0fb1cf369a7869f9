/* select.h - a choice of two numbers by a predicate, and a comparison of what was chosen. Private to isa/.
 *
 * Inline assembly has no operands that are predicates, so a `selp.b32 r, 1, 0, p` hands one out, and the C++ around
 * it compares r with 0 (libcu++'s try_wait, elect.sync). ptxas makes the branch on p. */
#ifndef LOCKSTEP_ISA_FLOW_SELECT_H
#define LOCKSTEP_ISA_FLOW_SELECT_H

#include "isa/flow/virtual_view.h"

/* Within a block, guards and predicate operands that are such comparisons become the predicate, if nothing else reads
 * the number. What nobody reads then stays: it is dead. */
void vkernel_fold_selects(VKernel *vkernel);

#endif
