/* suite.h - published figures: a suite is a CSV whose rows name a scenario, a metric and what was published with its
 * source; doc/validation.md describes the columns. Rows that served to fit a parameter are kept apart from those that
 * test the prediction. What is predicted for a row is put in by validate.h. */
#ifndef LOCKSTEP_STUDY_SUITE_H
#define LOCKSTEP_STUDY_SUITE_H

#include <glib.h>
#include <stdbool.h>

#include "base/diag.h"
#include "sim/detect/naming/finding.h"
#include "sim/study/csv_table.h"

/* What a row compares. A speed-up, a time ratio and a rate ratio refer to the row named as baseline, in print as in
 * prediction. "faster" sets two rates side by side where a source says which is higher, and not by how much, and
 * "less_l2" and "less_dram" two traffics. A mean has no run of its own. */
#define METRICS(X)                                                                                   \
  X(METRIC_CYCLES, "cycles")                                                                         \
  X(METRIC_MICROSECONDS, "us")                                                                       \
  X(METRIC_MILLISECONDS, "ms")                                                                       \
  X(METRIC_SPEEDUP, "speedup")       /* baseline's time / this time */                               \
  X(METRIC_TIME_RATIO, "time_ratio") /* this time / baseline's time */                               \
  X(METRIC_RATE_RATIO, "rate_ratio") /* operations a second / those of the baseline */               \
  X(METRIC_FASTER, "faster")         /* 1: more operations a second than baseline; 0: no */          \
  X(METRIC_TRANSFER, "transfer")     /* of locks, TRANSFER_FROM_FENCE, in cycles */                  \
  X(METRIC_TRANSFER_UNLOCK, "transfer_unlock")                                                       \
  X(METRIC_TRANSFER_PORT, "transfer_port")                                                           \
  X(METRIC_TRANSFER_L2, "transfer_l2")                                                               \
  X(METRIC_TRANSFER_MEASURED, "transfer_measured") /* by the program, in cycles */                   \
  X(METRIC_TRANSFER_RATIO, "transfer_ratio")       /* that / the baseline's */                       \
  X(METRIC_L2_RATIO, "l2_ratio")                   /* sectors to and from the L2 / the baseline's */ \
  X(METRIC_L2_LINE_RATIO, "l2_line_ratio")         /* lines accessed in the L2 / the baseline's */   \
  X(METRIC_DRAM_RATIO, "dram_ratio")               /* bytes to and from DRAM / the baseline's */     \
  X(METRIC_ATOMICS, "atomics")                     /* on global memory, an operation */              \
  X(METRIC_RESIDENT_BLOCKS, "resident_blocks")     /* as many blocks as the machine holds */         \
  X(METRIC_SHARED_BYTES, "shared_bytes")                                                             \
  X(METRIC_LOCK_BITS, "lock_bits")                                                                   \
  X(METRIC_LESS_L2, "less_l2")           /* 1: fewer sectors than the baseline; 0: no */             \
  X(METRIC_LESS_DRAM, "less_dram")       /* 1: fewer bytes to and from DRAM; 0: no */                \
  X(METRIC_MEAN_SPEEDUP, "mean_speedup") /* of the `speedup` and `faster` rows above */              \
  X(METRIC_GEOMEAN_SPEEDUP, "geomean_speedup")

#define X(enumerator, spelling) enumerator,
typedef enum { METRICS(X) METRIC_COUNT } Metric;
#undef X

typedef enum { GROUP_FITTED, GROUP_TEST, GROUP_COUNT } ValidationGroup;

typedef enum {
  JUDGED_NOT, /* no tolerance is stated: the row is only reported */
  JUDGED_WITHIN,
  JUDGED_OUTSIDE,
} Judgement;

typedef enum { BOUND_NONE, BOUND_BELOW, BOUND_ABOVE } Bound;

typedef struct ValidationRow {
  char *row, *scenario, *machine, *baseline, *unit, *source, *page, *note;
  char *statement; /* of the source: rows of the same are readings of it, or a band over what it leaves open; "" */
  char *file;      /* where it stands */
  unsigned line;
  char **params;  /* "blocks=240": the scenario's, as -p has them; NULL-terminated */
  char **changes; /* "memory.l2.start=cold": the machine's, as -s has them; NULL-terminated */
  ValidationGroup group;
  Metric metric;
  double printed;              /* as it stands in the source */
  Bound bound;                 /* the source says "below" or "above" that */
  double published;            /* what the prediction is compared with: `printed`, or its ratio to the baseline's */
  double predicted, deviation; /* NaN: a run that hangs or is given up has no time */
  double speedup;              /* of `speedup` and `faster`: as predicted, and as a quotient of rates */
  double speedup_deviation;
  bool is_baseline;     /* of ratios: 1 by definition, so it doesn't count in the mean error */
  bool has_error;       /* false if the published value is 0, or nothing is predicted */
  double error_percent; /* of the prediction, relative to the published value; 0 on the right side of a bound */
  unsigned most_seeds;  /* it needs no more: one run has many phases of its own; 0: unlimited */
  bool has_tolerance;
  double tolerance_percent;
  Judgement judgement;
  Verdict verdict;  /* the worst over the seeds */
  bool as_expected; /* every run met the scenario's expectation */
} ValidationRow;

/* The rows of one metric within a group. */
typedef struct ValidationSummary {
  ValidationGroup group;
  Metric metric;
  guint rows, errors;        /* errors: rows that count in the mean */
  double mean_error_percent; /* mean absolute percentage error */
  guint statements;          /* of the rows that count, each that names none being one; 0: no row names one */
  /* A statement's error is that of the nearest of its predictions to any of its published values; 0 if one of these
   * lies among the predictions, or one keeps a bound. */
  double statement_error_percent, statement_worst_percent; /* the mean, and the largest */
  bool has_correlation;                                    /* at least three rows, not all equal */
  double correlation;                                      /* Spearman's rank correlation */
} ValidationSummary;

typedef struct Validation {
  char *suite;       /* file name without folder and ending */
  unsigned seeds;    /* of its runs */
  GPtrArray *rows;   /* ValidationRow *, in the order of the file */
  GArray *summaries; /* ValidationSummary: fitted rows first */
  bool cut_short;    /* something stopped the runs: rows are missing */
} Validation;

/* The suites in the data folder (names), sorted, NULL-terminated; free with g_strfreev. */
char **suite_list(void);
/* The file of a suite, by name, or by path if it holds '/' or ends in .csv. NULL, with the nearest name, if there is
 * none of that name. Free with g_free. */
char *suite_path(const char *suite, Diag *diag);
/* The rows of a suite's file as they stand there, after a look at its columns. NULL after errors. */
CsvTable *suite_table(const char *suite, Diag *diag);
/* Reads a suite by name, or by path if it holds '/' or ends in .csv. NULL after errors. */
Validation *suite_read(const char *suite, Diag *diag);
void validation_free(Validation *validation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Validation, validation_free)

/* The row that `row` refers to as its baseline, among those of the same metric, or of any for a metric that is a
 * sign; NULL if its metric has none. */
const ValidationRow *suite_baseline(const Validation *validation, const ValidationRow *row);
/* A mean, if it stands below `row`, is of it, too. */
bool suite_is_in_mean(const ValidationRow *mean, const ValidationRow *row);

const char *metric_name(Metric metric);
const char *validation_group_name(ValidationGroup group);
/* The metric is a quotient: this row's / the baseline's, or the other way round. */
bool metric_is_ratio(Metric metric);
/* It says which of two is ahead, 1 or 0; its baseline may be a row of any metric but a mean. */
bool metric_is_sign(Metric metric);
/* It is of the suite's `speedup` and `faster` rows of its group above it, without those that are baselines. */
bool metric_is_mean(Metric metric);
/* It hangs on the time of the whole run. */
bool metric_is_of_time(Metric metric);
/* It needs operations a second of both. */
bool metric_compares_rates(Metric metric);
/* It needs the scenario's number of operations. */
bool metric_needs_operations(Metric metric);

#endif
