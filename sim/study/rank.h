/* rank.h - the same measurement over several seeds, so that scenarios can be set side by side. A single run of a
 * spinning program is never a figure: mean, standard deviation and range over at least 12 seeds. */
#ifndef LOCKSTEP_STUDY_RANK_H
#define LOCKSTEP_STUDY_RANK_H

#include "sim/study/run.h"

enum { RANK_SEEDS_MIN = 12 };

typedef struct Sample {
  unsigned runs;
  double mean, deviation, lowest, highest;
  double squares; /* of what each is off the mean, added up */
} Sample;

typedef struct RankRow {
  char *scenario;
  char *about;
  Verdict verdict;            /* the worst over the seeds */
  bool as_expected;           /* every run met the scenario's expectation (or completed without findings) */
  Sample cycles;              /* measured (run_result_measured_cycles) */
  Sample transfer[TRANSFERS]; /* of locks, each run's mean in cycles; only if RunOptions.locks */
  Sample measured_transfer;   /* the same as programs measured it (RunResult.transfers) */
  Sample l2_sectors;          /* that accesses moved to or from the L2 (counters.global_segments) */
  Sample dram_bytes;
  double ratio; /* baseline mean / this mean: above 1 is faster than the baseline; NAN unless both completed */
  uint64_t shared_bytes; /* counters.shared_bytes_beyond_data, the largest over the seeds */
  uint64_t lock_bits;    /* counters.lock_bits, the largest over the seeds */
  bool has_operations;
  int64_t operations;
} RankRow;

/* Called before each scenario, `done` of them being measured. */
typedef void (*RankStep)(guint done, const char *scenario, gpointer user);

/* Runs each scenario under seeds first_seed .. first_seed+seeds-1. `scenarios` holds Scenario *; row 0 is the
 * baseline.
 * Returns RankRow * in the same order; NULL after errors. Free with g_ptr_array_unref. `step` may be NULL. If
 * `options->stop` asks for it, measuring ends early: then rows are missing, and the last may have fewer seeds. */
GPtrArray *rank_scenarios(const GPtrArray *scenarios, const Machine *machine, const RunOptions *options,
                          unsigned seeds, RankStep step, gpointer user, Diag *diag);
/* Mean, deviation and range of measured cycles of one scenario over seeds; no runs if it was stopped in the first.
 * False after errors. */
bool sample_scenario(const Scenario *scenario, const Machine *machine, const RunOptions *options, unsigned seeds,
                     RankRow *row, Diag *diag);
void rank_row_free(RankRow *row);
/* Standard deviation of row->ratio, from the spreads of both rows; 0 for the baseline itself. */
double rank_ratio_deviation(const RankRow *baseline, const RankRow *row);

#endif
