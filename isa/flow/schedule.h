/* schedule.h - the order of instructions within a block, as ptxas has it: what depends on a value stands as far
 * behind it as others can fill the time, and a comparison stands well before its branch. Private to isa/. */
#ifndef LOCKSTEP_ISA_FLOW_SCHEDULE_H
#define LOCKSTEP_ISA_FLOW_SCHEDULE_H

#include "isa/flow/virtual_view.h"

/* Accesses, barriers, fences, votes, clocks, marks and all else that is no arithmetic keep their order, but for plain
 * loads, which pass each other and some stores, so the memory model's verdicts can't change. Nothing passes a place
 * where lanes of a warp come together or give way. `rows`: registers that a thread has at most. */
void vkernel_schedule(VKernel *vkernel, unsigned rows);

#endif
