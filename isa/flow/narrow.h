/* narrow.h - 64-bit operations on 32-bit values. Private to isa/.
 *
 * nvcc extends an index to 64 bits where it first can, and shifts the pair where it is used. ptxas needs no pair for
 * that: the upper word is zero or the sign. */
#ifndef LOCKSTEP_ISA_FLOW_NARROW_H
#define LOCKSTEP_ISA_FLOW_NARROW_H

#include "isa/flow/virtual_view.h"

/* A constant shift to the left of an extended word becomes a product of words. */
void vkernel_narrow(VKernel *vkernel);

#endif
