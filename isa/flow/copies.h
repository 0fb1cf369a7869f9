/* copies.h - copies of what is a constant when they are made. Private to isa/.
 *
 * nvcc moves one 0 to a register and copies it to others: a sum and the counter of its loop begin with the same
 * register, which the loop then changes. ptxas has the constant in both. So what the one becomes says nothing of the
 * other, as to whether lanes may differ in it (divergence.h). */
#ifndef LOCKSTEP_ISA_FLOW_COPIES_H
#define LOCKSTEP_ISA_FLOW_COPIES_H

#include "isa/flow/virtual_view.h"

/* A MOV of a register that holds a constant there, whichever way lanes came, becomes a MOV of that constant. Linear
 * in the instructions and in the rows that are copied times the blocks; kernels with too many of these stay as they
 * are. */
void vkernel_fold_copies(VKernel *vkernel);

#endif
