/* hoist.h - loads ahead of what uses the loads before them, as ptxas has them: those of an unrolled loop are sent one
 * behind the other, and wait together. Private to isa/. */
#ifndef LOCKSTEP_ISA_FLOW_HOIST_H
#define LOCKSTEP_ISA_FLOW_HOIST_H

#include "isa/flow/virtual_view.h"

/* In each stretch of arithmetic and plain loads, up to eight loads, what uses a loaded value moves behind the last
 * load, in its order. Loads keep theirs, and pass no other access, barrier, fence, clock or mark. */
void loads_hoist(VKernel *vkernel);

#endif
