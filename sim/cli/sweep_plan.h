/* sweep_plan.h - the plan that the command line of `sweep` names or gives. */
#ifndef LOCKSTEP_CLI_SWEEP_PLAN_H
#define LOCKSTEP_CLI_SWEEP_PLAN_H

#include "sim/cli/options.h"
#include "sim/study/sweep/plan.h"

/* The plan in a file, with what the options change of it, or a plan of the scenarios and options alone. Without
 * either the plan that a submission froze beside the file of -o. NULL after errors. */
Plan *sweep_plan(const Options *options, Diag *diag);

#endif
