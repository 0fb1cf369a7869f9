/* sink.h - values are made where they are wanted. Private to isa/.
 *
 * nvcc extends indices to 64 bits long before they become addresses, and combines values long after it has them;
 * ptxas doesn't leave them there. These passes move arithmetic only: accesses to memory, votes, barriers and all that
 * has an effect stay in their order, and each instruction keeps its line. */
#ifndef LOCKSTEP_ISA_FLOW_SINK_H
#define LOCKSTEP_ISA_FLOW_SINK_H

#include "isa/flow/virtual_view.h"

/* Arithmetic moves down to its first use if fewer registers are in use between then, never into a loop. What combines
 * values that nobody else reads moves up, within its block, to where it has them. */
void vkernel_place_values(VKernel *vkernel);

#endif
