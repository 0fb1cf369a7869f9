/* mends.h - what becomes of the findings of a check's run: doubts are tried, and repairs.
 * Ownership: Mends borrows all that it has. */
#ifndef LOCKSTEP_STUDY_MENDS_H
#define LOCKSTEP_STUDY_MENDS_H

#include "sim/study/fences.h"
#include "sim/study/schedule.h"

typedef struct Mends {
  const Scenario *scenario;
  const Machine *machine;
  const RunOptions *options; /* of the check */
  const GArray *schedules;   /* Schedule */
  FenceSearch *fences;
  void (*step)(gpointer user, guint index); /* a repair is about to be tried under schedule `index` */
  gpointer user;
} Mends;

/* The options of a check's run under the schedule: races are looked for, and its buffers kept. */
RunOptions mends_options(const RunOptions *options, const Schedule *schedule);
/* An earlier schedule has the finding and no repair for it: a run that has it may tell which fences help. */
bool mends_may(const Finding *known, const Finding *finding);
/* Of findings of a run under schedule `index` that no earlier schedule had (`known`: those that one had): drops those
 * that their doubt ends, and tries the repairs of the others. */
void mends_try(const Mends *mends, guint index, RunResult *run, GPtrArray *known, Diag *diag);

#endif
