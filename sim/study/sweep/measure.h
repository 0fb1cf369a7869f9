/* measure.h - a plan's points measured, each over its seeds: what studies that search or compare are made of. */
#ifndef LOCKSTEP_STUDY_SWEEP_MEASURE_H
#define LOCKSTEP_STUDY_SWEEP_MEASURE_H

#include "sim/study/sweep/sweep.h"

/* A point over its seeds. */
typedef struct Measured {
  unsigned runs;                /* seeds that completed */
  double mean, lowest, highest; /* microseconds of the measured region */
  double *seeds;                /* microseconds by seed; NaN of one that didn't complete */
  double rate;                  /* operations a second at the mean time; 0 if the scenario counts none */
  bool completed;               /* every seed did */
  char *problem;                /* why not: an error or a verdict; NULL if it did */
} Measured;

/* Measures the points of a plan: Measured, in the plan's order, seeds taken together. `store` has and takes the rows.
 * NULL after errors, or (no errors in `diag`) if options->stop ended it. Free with g_array_unref. */
GArray *measure_plan(const Plan *plan, Store *store, const SweepOptions *options, Diag *diag);

#endif
