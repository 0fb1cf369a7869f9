/* try_wait.h - warps that sleep until a phase of an mbarrier is complete (SYNCS.PHASECHK.TRYWAIT, mbarrier.try_wait).
 * Models: a warp all of whose lanes try one barrier in vain sleeps until an arrival completes the phase, and looks
 * again without taking the pipe, or for sm.shared.try_limit: then it goes on without the phase. One that has lanes
 * elsewhere goes on sm.shared.try_apart later. Measured on an H200 (validation/hardware/mc_mbarrier.cu).
 * Does not model: looking again where what stands between the look and its comparison can't be done twice (as PTX may
 * be scheduled): there the program's own loop does.
 * All of it is of one SM. */
#ifndef LOCKSTEP_CORE_TRY_WAIT_H
#define LOCKSTEP_CORE_TRY_WAIT_H

#include "sim/core/exec.h"
#include "sim/core/state.h"

/* The look of a try, at those addresses of shared memory: which barrier it is. */
void try_wait_look(Issue *issue, const uint32_t physical[WARP_LANES]);
/* The executor of the comparison that says how it went (ISETP_OF_TRY). */
void try_wait_compare(Issue *issue);
/* The word, in shared memory, changes from one to the other in cycle `time`: who sleeps there wakes if that ends the
 * phase. */
void try_wait_changed(Sm *sm, uint32_t word, uint32_t before, uint32_t after, uint64_t time);

#endif
