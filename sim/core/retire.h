/* retire.h - the ends of blocks, which the dispatcher takes note of one behind the other.
 * Models: a launch ends grid.retire_interval for each block after the first whose exit the dispatcher hears of while it is
 * busy with others. Measured: of an empty kernel each block takes 1.21 cycles (block_start_h200.csv), while blocks start
 * 0.18 cycles apart.
 * Does not model: blocks of other launches, whose exits come in between; that a place is filled later meanwhile.
 * Time: cycles of the SM clock. */
#ifndef LOCKSTEP_CORE_RETIRE_H
#define LOCKSTEP_CORE_RETIRE_H

#include "sim/core/state.h"

/* A block of the launch exits on that SM. May be called for SMs side by side. */
void retire_note(Sm *sm, const Launch *launch, uint64_t now);
/* The launch's blocks have all exited: when the dispatcher has heard of the last. Forgets them. 0: it takes no time. */
uint64_t retire_end(Gpu *gpu, const Launch *launch);

#endif
