/* hoist.h - loads and atomic operations ahead of what uses those before them, as ptxas has them: those of an
 * unrolled loop are sent one behind the other, and wait together. Private to isa/. */
#ifndef LOCKSTEP_ISA_FLOW_HOIST_H
#define LOCKSTEP_ISA_FLOW_HOIST_H

#include "isa/flow/virtual_view.h"

/* In each stretch of arithmetic and such accesses, up to eight of them, what uses a value that one brings moves
 * behind the last of them, in its order. Accesses keep theirs, and pass no store, no access that acquires or
 * releases, no barrier, fence, clock or mark. */
void accesses_hoist(VKernel *vkernel);

#endif
