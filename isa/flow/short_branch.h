/* short_branch.h - short branches around a block barrier become predicated instructions, as ptxas makes them. Private
 * to isa/. */
#ifndef LOCKSTEP_ISA_FLOW_SHORT_BRANCH_H
#define LOCKSTEP_ISA_FLOW_SHORT_BRANCH_H

#include "isa/flow/virtual_view.h"

/* `if` and `if-else` of at most 7 instructions a side (doc/model.md, "Convergence barriers"), if a side has a block
 * barrier: it then needs no WARPSYNC, and all lanes of the warp come to it. Other short branches stay. */
void short_branches_predicate(VKernel *vkernel);

#endif
