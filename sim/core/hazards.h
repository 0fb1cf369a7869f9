/* hazards.h - instructions of machine code whose control bits let them issue too early (Kernel.hazards,
 * isa/mc/mc_hazards.h). A GPU computes with whatever stands in the register then; here the run goes on with the right
 * value, and Probe.hazard is told when lanes execute such an instruction. Kernels without one pay nothing. */
#ifndef LOCKSTEP_CORE_HAZARDS_H
#define LOCKSTEP_CORE_HAZARDS_H

#include "sim/core/exec.h"

/* True if instruction `pc` may issue too early. */
bool hazards_has(const Kernel *kernel, uint32_t pc);
/* The executor of such an instruction: tells, and then executes it. */
void hazards_execute(Issue *issue);
/* Its guard holds in none of the `active` lanes, and the guard itself may have been read too early. */
void hazards_skip(const Issue *issue, uint32_t active);

#endif
