/* wide_loads.h - loads of neighbouring words of shared memory that become one, as ptxas 13.0 has it for sm_75 to
 * sm_90: of two or four words, where the address is known to be a multiple of their size, in one block, with no store
 * to shared memory, fence or barrier between. Only plain loads of one line of the source, so that what is found there
 * reads as before. ptxas also loads four words where three are wanted; here those are two and one, since nobody may
 * touch what isn't wanted. Private to isa/. */
#ifndef LOCKSTEP_ISA_FLOW_WIDE_LOADS_H
#define LOCKSTEP_ISA_FLOW_WIDE_LOADS_H

#include "isa/flow/virtual_view.h"

/* Before vkernel_schedule(). */
void vkernel_widen_loads(VKernel *vkernel);

#endif
