/* merge.h - atomic operations of a warp that ptxas makes one: the lanes that execute it vote, add up what they bring
 * (POPC of the vote where it is the same for all, else REDUX or shuffles), and the highest of them goes to memory;
 * who wants the result gets it by a shuffle, and adds what the lanes before it brought.
 * Values are those of each lane's own operation, in the order of the lanes, so only Inst.cmp (MergeMode) says so.
 * Seen with ptxas 13.0 for sm_75, sm_80 and sm_90, whatever the program's target. Private to isa/. */
#ifndef LOCKSTEP_ISA_FLOW_MERGE_H
#define LOCKSTEP_ISA_FLOW_MERGE_H

#include "isa/flow/divergence.h"
#include "isa/flow/virtual_view.h"

/* Sets the MergeMode of each atomic operation whose address is the same for all lanes, unless only one lane can be
 * there. `flow`, `loops` and `divergence` are the kernel's; `capability`: 75, 86, 90 ...
 * True if there is one whose lanes bring the same value: `divergence` doesn't know yet that all get the same of an
 * addition of 0. */
bool atomics_merge(VKernel *vkernel, unsigned capability, const Flow *flow, const Loops *loops,
                   const Divergence *divergence);

#endif
