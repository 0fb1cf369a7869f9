/* unroll.h - loops that ptxas unrolls, unrolled. Private to isa/.
 *
 * What ptxas 13.0 does for sm_75 to sm_90 (tests/converge/unroll.ptx): innermost loops that count (counted.h), but
 * for those with a fence in them, before sm_90 with a WARPSYNC, or with `.pragma "nounroll"`.
 * - Rounds that are a constant: all of them one behind the other, up to a size; above that rounds of about 300
 *   instructions. Lanes may leave it in the middle.
 * - Else rounds of four while there are four, then two, then the loop as it was. Lanes leave it at its end only. A
 *   round is small; its rounds depend on parameters alone if it has an atomic operation, a shuffle, a vote, a
 *   barrier or a pause, and are the same in all lanes if it has a store under a condition.
 * Loops around one that is unrolled whole are looked at again. */
#ifndef LOCKSTEP_ISA_FLOW_UNROLL_H
#define LOCKSTEP_ISA_FLOW_UNROLL_H

#include "isa/flow/virtual.h"

/* Before vkernel_converge(), for the same machine. */
void vkernel_unroll(VKernel *vkernel, unsigned capability);

#endif
