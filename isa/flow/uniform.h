/* uniform.h - which registers ptxas keeps in uniform registers, which a warp has once and which don't count. Private
 * to isa/.
 *
 * GPUs with sm_75 and newer have a second, small datapath for integers that are the same in all lanes of a warp (UR0
 * to UR62). */
#ifndef LOCKSTEP_ISA_FLOW_UNIFORM_H
#define LOCKSTEP_ISA_FLOW_UNIFORM_H

#include "isa/flow/virtual_view.h"

enum { UNIFORM_ROWS = 63 }; /* URZ aside */

/* One byte a virtual register, 1: it can be a uniform register. Its writers are operations of the uniform datapath on
 * constants, what the block and the launch have, and other such registers; they stand where all lanes of the warp are
 * together, or in the block of all readers. Its readers have place for it: as a constant, it is one operand of
 * arithmetic, or the address of shared memory; what goes to other memory, to a shuffle or to a barrier is in a
 * register. NULL: there are none. Free with g_free(). */
uint8_t *uniform_registers(const VKernel *vkernel, const Flow *flow);

#endif
