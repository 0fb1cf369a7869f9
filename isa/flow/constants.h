/* constants.h - constants are operands, and are loaded where they are wanted. Private to isa/.
 *
 * nvcc loads all parameters and moves all constants to registers at a kernel's start, or long before their use. ptxas
 * has them as operands, and loads what has to stand in a register, the base of an address, in each block that uses
 * it, before its loops. */
#ifndef LOCKSTEP_ISA_FLOW_CONSTANTS_H
#define LOCKSTEP_ISA_FLOW_CONSTANTS_H

#include "isa/flow/virtual_view.h"

/* Instructions read a constant itself instead of a register that only holds it: arithmetic one, and RZ; accesses as a
 * value and, if they are to shared or local memory, as the address. Sums of constants are constants, and sums with 0
 * are copies. */
void vkernel_fold_constants(VKernel *vkernel);

/* Each block loads the constants that it still needs in registers. */
void vkernel_split_constants(VKernel *vkernel);

#endif
