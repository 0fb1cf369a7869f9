/* older.h - tries the loads of an unordered-access: the run is made again with one that gives the older value, which
 * PTX allows. Where each such run ends as all schedules do, without a finding of its own, the finding becomes the
 * note `older-value`: a stale parent of a union-find is an ancestor, too, and a thief of a work-stealing deque that
 * sees an old end finds nothing. Ends as all schedules do: completed, with the buffers that the scenario expects, and
 * each word that all schedules left alike is the same. Each load is tried alone, and together with the next ones of
 * its warp to the same word, as long as nothing orders the newer value before them. A finding stays where one run
 * ends otherwise, where no load can be tried, and where nothing says what is right: schedules leave different
 * words, and the scenario expects none. One of lanes that only lock-step orders (lock_step.h) stays only where a run
 * ends otherwise. */
#ifndef LOCKSTEP_STUDY_OLDER_H
#define LOCKSTEP_STUDY_OLDER_H

#include "sim/study/results.h"

/* What the trials need of a check; it borrows all. */
typedef struct OlderTrials {
  const Scenario *scenario;
  const Machine *machine;
  const RunOptions *options;
  const GArray *schedules; /* Schedule */
  const Results *results;
  const GPtrArray *known; /* Finding * of the check */
  Diag *diag;
  uint64_t instructions; /* of warps, of the check's first run */
  guint made;   /* runs; 0 at first */
  bool stopped; /* none can be made any more: what would have to be shown to do harm becomes a note */
} OlderTrials;

/* True if the finding has become a note. `options->stop` leaves it as it is. */
bool older_try(OlderTrials *trials, Finding *finding);

#endif
