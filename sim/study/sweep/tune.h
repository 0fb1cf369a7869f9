/* tune.h - the values of a scenario's params under which it is fastest: takes the least time, or, if it counts
 * operations, the least time for one of them, since a param such as the number of blocks changes how many there are.
 *
 * Method: a grid first, whose values grow by a constant factor, then a pattern search: from the best point one step
 * up and down along each param, to the best of them if it is better; else the steps' factors are replaced by their
 * square roots, until no new point is left or the budget is spent. Every point is measured over the same seeds. It
 * finds the best of a landscape with one valley; the grid is there for those that have several. */
#ifndef LOCKSTEP_STUDY_SWEEP_TUNE_H
#define LOCKSTEP_STUDY_SWEEP_TUNE_H

#include "sim/study/sweep/measure.h"

enum { TUNE_AXES_MAX = 4, TUNE_BUDGET_DEFAULT = 60 };
/* Steps are factors, so values are whole numbers that a double holds. */
#define TUNE_VALUE_MAX ((gint64)1 << 53)

/* A param that is searched, from lowest to highest. */
typedef struct TuneAxis {
  char *name;
  gint64 lowest, highest;
} TuneAxis;

/* A point that was measured. */
typedef struct TunePoint {
  gint64 value[TUNE_AXES_MAX];
  double mean, lowest, highest; /* microseconds; infinite if it didn't complete */
  double cost;                  /* microseconds of an operation; of all, if the scenario counts none */
  const char *problem;          /* why it didn't complete: an error or a verdict; NULL. The Tuned's */
} TunePoint;

typedef struct Tuned {
  GArray *points;         /* TunePoint, in the order in which they were measured */
  GStringChunk *problems; /* what points didn't complete for */
  guint best;     /* index of the fastest */
  guint grid;     /* how many of them are of the grid */
  double plain;   /* microseconds with the scenario's own values; NaN if it doesn't complete */
  double plain_cost;
  bool counts_vary; /* points, or the scenario's own values, have different numbers of operations */
} Tuned;

/* `plan` has one scenario, machine, seeds, and what else is fixed; `axes` are TuneAxis, at most TUNE_AXES_MAX. At
 * most `budget` points are measured, those of the scenario's own values not counted. `store` takes the rows of all.
 * NULL after errors, or if it was stopped. */
Tuned *tune(const Plan *plan, const GArray *axes, guint budget, Store *store, const SweepOptions *options,
            Diag *diag);
void tuned_free(Tuned *tuned);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Tuned, tuned_free)
/* The header that `store` must have. Free with g_free. */
char *tune_header(const Plan *plan, const GArray *axes);
/* The keys of all rows, in the order of the points. Free with g_ptr_array_unref. */
GPtrArray *tune_keys(const Plan *plan, const GArray *axes, const Tuned *tuned, Diag *diag);

#endif
