/* check.h - runs a scenario under several scheduling policies, branch orders, orders of dispatch and seeds
 * (SEMANTICS, "Verdicts") and unites what they found: the worst verdict, all findings, data races, verdicts that
 * depend on the schedule. What goes wrong only under another order of dispatch is a finding, dispatch-order, and not
 * the verdict. */
#ifndef LOCKSTEP_STUDY_CHECK_H
#define LOCKSTEP_STUDY_CHECK_H

#include "sim/study/again.h"
#include "sim/study/run.h"

typedef struct CheckOptions {
  RunOptions run;
  unsigned seeds;     /* for the machine's own policy; default 4 */
  unsigned schedules; /* how many in all, over policies, branch orders and seeds; 0: as `seeds` says */
  /* Schedules at a time; 0: one a processor, but no more than take 250 MB together, as far as the first one tells.
   * What comes out is the same. */
  unsigned jobs;
  /* What begins: the run of schedule `index` (from 0), or something else with it, as `what` says. From any thread,
   * but one at a time; or NULL. */
  void (*step)(gpointer user, guint index, guint total, const char *what);
  gpointer step_user;
  Given given; /* for the commands that run a schedule again */
} CheckOptions;

CheckOptions check_options_default(void);
/* As run_scenario(), with `schedules` filled. */
RunResult *check_scenario(const Scenario *scenario, const Machine *machine, const CheckOptions *options, Diag *diag);

#endif
