/* samples.h - measurements over several seeds: each of a scenario on a machine, their runs shared among threads. The
 * runs of a measurement are put together in the order of their seeds, so figures are the same for any number of
 * threads. A single run of a spinning program is never a figure: a measurement has at least 12 seeds, unless its runs
 * hold many phases of their own. */
#ifndef LOCKSTEP_STUDY_SAMPLES_H
#define LOCKSTEP_STUDY_SAMPLES_H

#include "sim/study/run.h"

enum { SAMPLE_SEEDS_MIN = 12 };

typedef struct Sample {
  unsigned runs;
  double mean, deviation, lowest, highest;
  double squares; /* of what each is off the mean, added up */
} Sample;

typedef struct Measurement {
  char *scenario;
  char *about;
  Verdict verdict;            /* the worst over the seeds */
  bool as_expected;           /* every run met the scenario's expectation (or completed without findings) */
  Sample cycles;              /* measured (run_result_measured_cycles) */
  Sample transfer[TRANSFERS]; /* of locks, each run's mean in cycles; only if RunOptions.locks */
  Sample measured_transfer;   /* the same as programs measured it (RunResult.transfers) */
  Sample l2_sectors;          /* that accesses moved to or from the L2 (counters.global_segments) */
  Sample l2_lines;            /* RunResult.l2_lines */
  Sample dram_bytes;
  Sample atomics;           /* on global memory (counters.global_atomics) */
  uint32_t resident_blocks; /* as many blocks of the first launch as the machine holds */
  double ratio;          /* rank.h: baseline mean / this mean, above 1 if faster; NAN unless both completed. Else 1 */
  bool by_operation;     /* rank.h: means of one operation each are compared */
  uint64_t shared_bytes; /* counters.shared_bytes_beyond_data, the largest over the seeds */
  uint64_t lock_bits;    /* counters.lock_bits, the largest over the seeds */
  bool has_operations;
  int64_t operations;
  bool whole; /* all seeds were run: nothing stopped it */
} Measurement;

void measurement_free(Measurement *measurement);

/* What to measure. */
typedef struct SampleTask {
  const Scenario *scenario; /* borrowed, as is the machine */
  const Machine *machine;
  unsigned seeds; /* RunOptions.seed and those that follow */
  bool locks;     /* RunOptions.locks, besides those that have it anyway */
} SampleTask;

/* A run begins, `done` of `total` having ended; `what` is its scenario and seed. Called on any thread, by one at a
 * time. */
typedef void (*SamplesStep)(gpointer user, guint done, guint total, const char *what);

typedef struct SamplesOptions {
  RunOptions run; /* of all; run.stop ends the whole early. The heartbeat is told if there is one thread */
  unsigned jobs;  /* threads: runs at a time, at least 1 */
  SamplesStep step;
  gpointer step_user;
} SamplesOptions;

/* Makes all measurements of `tasks` (SampleTask). Returns Measurement * in the same order; NULL after errors: those
 * of the first run that has some. If `run.stop` asked for an end, the last ones lack seeds or are missing. Free with
 * g_ptr_array_unref. */
GPtrArray *samples_take(const GArray *tasks, const SamplesOptions *options, Diag *diag);

/* Runs `task` under all its seeds. Returns the run whose time (run_result_measured_cycles()) is the median, the lower
 * one of two, if each ends as expected; else the first of those that end worst. RunResult.span says what the others
 * were. NULL after errors. If `run.stop` asked for an end, fewer seeds were run. */
RunResult *samples_median(const SampleTask *task, const SamplesOptions *options, Diag *diag);

#endif
