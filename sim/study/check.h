/* check.h - runs a scenario under several scheduling policies, branch orders and seeds (SEMANTICS, "Verdicts") and unites
 * what they found: the worst verdict, all findings, data races, verdicts that depend on the schedule. */
#ifndef LOCKSTEP_STUDY_CHECK_H
#define LOCKSTEP_STUDY_CHECK_H

#include "sim/study/run.h"

typedef struct CheckOptions {
  RunOptions run;
  unsigned seeds; /* for the machine's own policy; default 4 */
} CheckOptions;

CheckOptions check_options_default(void);
/* As run_scenario(), with `schedules` filled. */
RunResult *check_scenario(const Scenario *scenario, const Machine *machine, const CheckOptions *options, Diag *diag);

#endif
