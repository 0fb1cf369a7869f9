/* switch_arm.h - the tests that a compiler makes of a switch: a tree of comparisons of one register with constants.
 * Private to isa/. */
#ifndef LOCKSTEP_ISA_FLOW_SWITCH_ARM_H
#define LOCKSTEP_ISA_FLOW_SWITCH_ARM_H

#include "isa/flow/virtual_view.h"

/* The block to which the tests below `block` lead the lowest value that they ask for. NO_TARGET if `block` doesn't
 * end with such a tree: with a test for less or more, as a compiler begins a binary search. (A chain of tests for
 * equality isn't one.) */
int32_t switch_first_arm(const VKernel *vkernel, const Flow *flow, uint32_t block);

#endif
