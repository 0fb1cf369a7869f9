/* spill.h - registers that have no room live in the lane's local memory. Private to isa/.
 * Those go first that are long in the way and seldom used; loops count for more. What only holds a constant or a
 * special register that never changes is made again at each use instead. */
#ifndef LOCKSTEP_ISA_FLOW_SPILL_H
#define LOCKSTEP_ISA_FLOW_SPILL_H

#include "isa/flow/live_range.h"

/* Takes so many of the first `registers` registers out that about `rows` rows are in use at once, and gives their
 * instructions loads and stores; Kernel.local_bytes and spill_bytes grow. `uniform` (may be NULL) tells which don't
 * count. False if none is left that would help. */
bool registers_spill(VKernel *vkernel, const Flow *flow, const LiveRanges *ranges, const uint8_t *uniform,
                     uint32_t registers, uint32_t rows);

#endif
