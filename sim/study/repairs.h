/* repairs.h - tries the repairs of a finding in the model: the run is repeated with a fence or barrier put in, and a
 * repair is proposed only if the finding is gone. What can't be tried, or doesn't help, stays a hint. A doubt is
 * tried likewise, before the finding is told. */
#ifndef LOCKSTEP_STUDY_REPAIRS_H
#define LOCKSTEP_STUDY_REPAIRS_H

#include "sim/study/run.h"

/* True if the finding has a doubt, and is gone where that is taken into account; or if the command ended before that
 * was known: what may be no finding isn't told. */
bool repairs_doubt(Finding *finding, const Scenario *scenario, const Machine *machine, const RunOptions *options,
                   uint64_t cycles, Diag *diag);
/* Sets finding->repair. The run that has the finding took so many cycles. False: no repair that was tried helps. */
bool repairs_try(Finding *finding, const Scenario *scenario, const Machine *machine, const RunOptions *options,
                 uint64_t cycles, Diag *diag);

/* The same of updates that are lost: a run with atomic operations in their place has to complete, with the buffers
 * that the scenario expects, and lose none there. */
bool repairs_try_atomics(Finding *finding, const Scenario *scenario, const Machine *machine,
                         const RunOptions *options, uint64_t cycles, Diag *diag);

#endif
