/* fences.h - finds the fences whose lack a run with late stores has shown (Finding.fences): the program is run again
 * with a fence put in, under each schedule with late stores, and where the finding still comes up with another one
 * beside it, until it is gone. Fences that it is gone without, too, are left out again.
 * Ownership: a FenceSearch is of one check, and borrows what it is made of. It keeps what its runs gave. */
#ifndef LOCKSTEP_STUDY_FENCES_H
#define LOCKSTEP_STUDY_FENCES_H

#include "sim/study/run.h"
#include "sim/study/schedule.h"

typedef struct FenceSearch FenceSearch;

/* `schedules`: Schedule, of all of the check. */
FenceSearch *fence_search_new(const Scenario *scenario, const Machine *machine, const RunOptions *options,
                              const GArray *schedules);
void fence_search_free(FenceSearch *search);
/* Says in finding->repair which fences end the finding. False: it doesn't; if there is nothing else to try the
 * evidence says that it was tried. `run`, under schedule `index`, is the one that has the finding. */
bool fence_search_try(FenceSearch *search, Finding *finding, guint index, const RunResult *run, Diag *diag);

#endif
