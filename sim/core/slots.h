/* slots.h - where the issue slots of schedulers went. A slot is a cycle of a scheduler. An instruction takes as many
 * as sm.issue_interval has cycles. Those between two instructions are counted once, when the second issues: for what
 * its warp had waited for. They are empty as long as the scheduler has no warp that hasn't exited. What is left over
 * is latency, so that nothing is done for most instructions. */
#ifndef LOCKSTEP_CORE_SLOTS_H
#define LOCKSTEP_CORE_SLOTS_H

#include "sim/core/state.h"

enum { SLOTS_ISSUED = STALL_COUNT, SLOTS_COUNT };

/* A warp that the scheduler has chosen, and that waited for more than latency, issues. */
void slots_wait(Sm *sm, uint32_t slot, uint64_t now);
/* It doesn't issue after all. */
void slots_lose(const Issue *issue, Stall stall);
/* A warp begins in that slot of the SM, in cycle `time`. */
void slots_begin(Sm *sm, uint32_t slot, uint64_t time);
/* One has exited. */
void slots_end(Sm *sm, const Warp *warp);
/* Where the slots of SM `index` went up to cycle `end`, by Stall, and SLOTS_ISSUED; they add up to schedulers times
 * cycles. */
void slots_read(const Gpu *gpu, uint32_t index, uint64_t end, uint64_t slots[SLOTS_COUNT]);

#endif
