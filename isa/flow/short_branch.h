/* short_branch.h - short branches become predicated instructions, as ptxas makes them. Private to isa/. */
#ifndef LOCKSTEP_ISA_FLOW_SHORT_BRANCH_H
#define LOCKSTEP_ISA_FLOW_SHORT_BRANCH_H

#include "isa/flow/virtual_view.h"

/* `if` and `if-else` of at most 7 instructions a side (doc/warps.md, "Convergence barriers"), without atomics,
 * shuffles and votes; without fences, too, and with one plain load from global memory at most, unless a side has a
 * block barrier: that needs no WARPSYNC then, and all lanes of the warp come to it. */
void short_branches_predicate(VKernel *vkernel);

#endif
