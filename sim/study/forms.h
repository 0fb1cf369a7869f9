/* forms.h - a run of check: of a program that runs as machine code, and whose PTX is at hand, in both forms.
 *
 * Verdict, results and what the GPU does (stale reads, hazards) are those of the machine code. What the source relies
 * on without right is looked for in the PTX: data races, accesses that nothing orders, loads of the compiler's own,
 * masks of warps, values that nothing has written. Machine code doesn't have that any more: shared memory's accesses
 * carry no strength there, ptxas leaves out __syncwarp() where lanes are together, fences for a block and what a mask
 * asks for. So the machine code's own findings of these kinds are dropped, unless its PTX comes to another end under
 * that schedule: then it may not have come to the place, and both count.
 * Programs without PTX, and what runs as PTX, run once. */
#ifndef LOCKSTEP_STUDY_FORMS_H
#define LOCKSTEP_STUDY_FORMS_H

#include "sim/study/run.h"

/* As run_scenario(). */
RunResult *forms_run(const Scenario *scenario, const Machine *machine, const RunOptions *options, Diag *diag);

#endif
