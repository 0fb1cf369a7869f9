/* run.h - one run of a scenario on a machine, and what it gave. Nothing here prints. */
#ifndef LOCKSTEP_STUDY_RUN_H
#define LOCKSTEP_STUDY_RUN_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/core/look.h"
#include "sim/core/occupancy.h"
#include "sim/detect/naming/finding.h"
#include "sim/engine/counter.h"
#include "sim/study/simulation.h"

/* Cycles between two marks (Scenario.measure.region); `found` is false if a mark never fired. */
typedef struct RegionResult {
  uint32_t from, to;
  bool found;
  uint64_t first_cycle, last_cycle;
} RegionResult;

/* The launch that took longest (ScenarioMeasure.longest_launch), from its first block's dispatch to its end. */
typedef struct LongestLaunch {
  bool found;             /* it is asked for, and the run completed */
  guint launch, launches; /* its number, from 0 on, of so many */
  uint64_t cycles;
} LongestLaunch;

/* How long locks went from owner to owner, as the program itself measured it (ScenarioMeasure.transfers). */
typedef struct MeasuredTransfers {
  bool found; /* the scenario says where, the run completed or its window is over, and there were some */
  uint64_t transfers;
  double mean_cycles;
} MeasuredTransfers;

/* How full a launch makes an SM. */
typedef struct LaunchOccupancy {
  char *kernel;
  bool is_ptx; /* its registers were allocated here: the report says how many */
  Occupancy occupancy;
  uint32_t resident_blocks; /* of all SMs */
} LaunchOccupancy;

/* A buffer of the scenario at the end. */
typedef struct ResultBuffer {
  char *name;
  uint32_t words, *data;
} ResultBuffer;

/* One schedule that `check` tried. */
typedef struct ScheduleResult {
  const char *policy, *branch_order, *dispatch_order; /* as parameters of the machine have them */
  uint64_t seed;
  Verdict verdict;
  uint64_t cycles;
  bool starved;   /* cut off: an unfair policy, and not counted as a verdict */
  bool relies;    /* it goes wrong since blocks come in another order: a finding (dispatch-order), and not counted */
  bool reordered; /* its blocks are dispatched in another order than the machine's own */
  uint32_t held_up;     /* its warps are held up for so many cycles or fewer, now and then; or: */
  uint32_t held_once;   /* one is, once, at this place (sm.held_once); 0: none */
  uint32_t late_stores; /* its stores are up to so many cycles late */
  guint result;         /* which of RunResult.results, from 1; 0: it didn't complete */
} ScheduleResult;

/* Schedules in which warps are held up that were left unfinished: whether these end isn't known. */
typedef struct Unfinished {
  guint left, tried; /* so many of so many */
  uint64_t cycles;   /* after so many, at most */
  char *again;       /* the command that goes on with the first of them; NULL: there are none */
} Unfinished;

/* What the command line changed: rows of several commands can be told apart by it. NULL-terminated, or NULL. */
typedef struct Changes {
  const char *const *settings; /* of the machine (-s) */
  const char *const *params;   /* of the scenario (-p) */
} Changes;

/* Runs of one scenario and machine, of which this is one (samples_median()). */
typedef struct SeedSpan {
  unsigned seeds;       /* so many; 0: it was run once */
  unsigned alike;       /* have this one's verdict, and meet what is expected or don't, as it does */
  uint64_t least, most; /* run_result_measured_cycles() */
  double mean;          /* of these */
} SeedSpan;

typedef struct RunResult {
  char *scenario; /* name */
  char *file;     /* the scenario's file */
  char *machine;
  uint64_t seed;
  SeedSpan span;
  Verdict verdict;
  uint64_t cycles;       /* SM cycles until the last block exited, or until the verdict */
  double clock_hz;       /* of those cycles */
  char *code;            /* what runs in place of CUDA source (Program.made_of); NULL: the program itself */
  char *printed;         /* by printf in kernels, in simulated order; NULL: nothing */
  uint64_t printed_lost; /* calls of printf whose output had no room */
  GArray *regions;       /* RegionResult */
  LongestLaunch longest;
  MeasuredTransfers transfers;
  GArray *occupancy;   /* LaunchOccupancy, one for each launch; may be NULL */
  GPtrArray *findings; /* Finding * */
  Counters counters;
  bool has_operations;
  int64_t operations;
  bool has_expectation;
  char *absent;          /* of a check: findings that the scenario lists and no schedule has, by name; NULL: none */
  bool expects_findings; /* of that only findings are compared: memory.late_stores or sm.held_up disturbs the run */
  GPtrArray *failures; /* char *: expectations not met; empty if all are */
  guint wrong_buffers; /* how many of them are of buffers; they stand last */
  GArray *schedules;   /* ScheduleResult; only from check, else NULL */
  GPtrArray
      *results; /* char *, "x = 1, y = 0 3": the different contents of buffers that the schedules left; else NULL */
  char *again;  /* the command that runs the schedule with the worst verdict; only from check, else NULL */
  Unfinished unfinished; /* only from check, else zeros */
  GPtrArray *buffers;    /* ResultBuffer *, if RunOptions.keep_buffers; else NULL */
  GArray *dumps;         /* BufferDump (dump.h): those of `buffers` that are shown; NULL: none */
  uint64_t dram_bytes;   /* read and written */
  uint64_t l2_lines;     /* loads, stores and atomics of a line, or a part of one, that slices performed */
  LockSums locks;        /* all locks together, if RunOptions.locks or details; else zeros */
  RunDetails *details;   /* if RunOptions.details; else NULL */
  char *wait_graph_dot;  /* the wait-for graph of a deadlock, if RunOptions.graph; or NULL */
  char *wait_graph_json;
  StopReason stop;        /* why it is undecided, or (check) not all schedules were tried; STOP_NONE: neither */
  guint schedules_wanted; /* only from check: how many there were to try */
  Changes changes;        /* borrowed from who set it; may be empty */
  bool trial_misplaced;   /* RunOptions.trial can't stand there: a barrier that part of a block would skip */
  bool starved;           /* states recurred for a while under this seed, but not under others */
  uint64_t source_cycles; /* of the run of its PTX that findings come from (forms.h); 0: there was none */
  uint64_t memory_digest; /* of all buffers at the end, if RunOptions.digest; else 0 */
  Choices choices;        /* what was up to the schedule, in this run and those of other seeds that it made */
} RunResult;

/* RunResult.buffers has that buffer of the scenario: constants stay what they are, and `$str` and `__unnamed_1` are
 * the compiler's, formats of printf and names of functions for assert. */
bool run_keeps_buffer(const Scenario *scenario, guint buffer);
/* Runs once. NULL after errors (a launch that the machine can't take ...), in `diag`. */
RunResult *run_scenario(const Scenario *scenario, const Machine *machine, const RunOptions *options, Diag *diag);
void run_result_free(RunResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RunResult, run_result_free)

RunOptions run_options_default(void);

/* The findings have changed, `before` is what they were: the failures that tell of findings that aren't expected
 * become what they are now. */
void run_result_expect_findings(RunResult *result, const Expectation *expect, const GPtrArray *before);

/* Exit status of a result by SEMANTICS, "Exit status": 0, 1 or 4. */
int run_result_exit_status(const RunResult *result);
/* The worst of two exit statuses, 3 > 2 > 1 > 4 > 0. */
int exit_status_worst(int a, int b);
/* Cycles of the first region if the scenario has one that was found, else those of its longest launch if it asks for
 * that, else all cycles: what rank compares. */
uint64_t run_result_measured_cycles(const RunResult *result);

#endif
