/* repairs.h - tries the repairs of a finding in the model: the run is repeated with a fence or barrier put in, and a
 * repair is proposed only if the finding is gone. What can't be tried, or doesn't help, stays a hint. */
#ifndef LOCKSTEP_STUDY_REPAIRS_H
#define LOCKSTEP_STUDY_REPAIRS_H

#include "sim/study/run.h"

/* Sets finding->repair. The run that has the finding took so many cycles. */
void repairs_try(Finding *finding, const Scenario *scenario, const Machine *machine, const RunOptions *options,
                 uint64_t cycles, Diag *diag);

#endif
