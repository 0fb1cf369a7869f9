/* options.h - the options of all subcommands: one table, from which each command takes the groups that it needs.
 * Ownership: an Options owns everything in it. */
#ifndef LOCKSTEP_CLI_OPTIONS_H
#define LOCKSTEP_CLI_OPTIONS_H

#include <glib.h>
#include <stdbool.h>

#include "base/diag.h"
#include "sim/cli/progress.h"
#include "sim/scenario/scenario.h"
#include "sim/study/samples.h"

typedef enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_COUNT } Format;

/* Groups of options. */
enum {
  OPTIONS_MACHINE = 1 << 0,  /* -m -s */
  OPTIONS_SCENARIO = 1 << 1, /* -p */
  OPTIONS_RUN = 1 << 2,      /* --seed --limit-* */
  OPTIONS_WAIT_GRAPH = 1 << 3,
  OPTIONS_SEEDS = 1 << 4,
  OPTIONS_FORMAT = 1 << 5,
  OPTIONS_BASELINE = 1 << 6,
  OPTIONS_SHOW = 1 << 7, /* --kernel --cfg --reconvergence */
  OPTIONS_TIMELINE = 1 << 8,
  OPTIONS_LAUNCH = 1 << 9,     /* --grid ... of a bare program */
  OPTIONS_SCHEDULES = 1 << 10, /* --schedules --jobs */
  OPTIONS_THREADS = 1 << 11,
  OPTIONS_DETAILS = 1 << 12,
  OPTIONS_SWEEP = 1 << 13,
  OPTIONS_OUTPUT = 1 << 14,
  OPTIONS_PLOT = 1 << 15,
  OPTIONS_CLUSTER = 1 << 16,
  OPTIONS_STUDY = 1 << 17, /* --seeds -j of a study of many points */
  OPTIONS_SENSITIVITY = 1 << 18,
  OPTIONS_TUNE = 1 << 19,
  OPTIONS_PRIMITIVES = 1 << 20,
  OPTIONS_DRAW = 1 << 21,     /* --lanes --warps --from --to */
  OPTIONS_JOBS = 1 << 22,     /* -j of runs over seeds */
  OPTIONS_SETTINGS = 1 << 23, /* -s, where machines are arguments */
  OPTIONS_RUN_SEEDS = 1 << 24, /* --seeds of run */
  OPTIONS_DUMP = 1 << 25,
};

typedef struct Options {
  char **machines, **overrides, **params;
  char *kernel, *grid, *block, *cluster, *shared, *heap;
  char **buffers, **args, **dumps;
  char **compiler_flags;                       /* what stands behind `--`; NULL: nothing */
  gint64 jobs;                                 /* 0: as many as there are processors */
  gint64 threads;                              /* of one run; 0: as many as are worth it */
  gint64 seed, seeds, schedules, limit_cycles; /* seeds, schedules below 1: the command's default */
  double limit_seconds;                        /* NaN: none */
  Stop stop; /* what all runs of the command listen to: that limit, counted from options_parse() on, and signals */
  char *wait_graph, *timeline;
  Format format;
  char *baseline;
  gboolean cfg, reconvergence, cooperative, details;
  CodeKind code_kind; /* --code */
  Progress *progress; /* borrowed; runs tell it how far they are; NULL: nobody asks */
  char *output;       /* -o */
  char *shard;        /* "2/8" */
  char **counters;
  double point_seconds; /* NaN: none */
  gboolean merge, count, fresh;
  char *x, *y, *map, *curves, *panels, *title, *log, *over, *script; /* of a plot */
  char **where, **only;
  double by; /* percent; NaN: none given */
  gint64 budget, ops;
  gboolean primitives;
  char *blocks;
  gboolean lanes, warps;
  gint64 from, to; /* cycles; below 0: not given */
  gboolean slurm, status, resume, dry_run;
  gint64 shards;                    /* 0: as many as the points are worth */
  char *partition, *time, *account; /* as sbatch takes them */
  char *format_name, *code_name;    /* as given */
  gboolean help_wanted;
  char *help;  /* what --help is to print, if it was given */
  char **rest; /* what isn't an option; NULL-terminated, never NULL */
} Options;

/* What --help prints. */
typedef struct CommandHelp {
  const char *name, *synopsis, *about;
  unsigned groups;
  const char *example; /* lines, each ending in a newline */
} CommandHelp;

typedef enum { OPTIONS_OK, OPTIONS_HELP, OPTIONS_BAD } OptionsOutcome;

/*
 * Parses argv[1...]. OPTIONS_HELP: the user asked for help, which is in options->help. OPTIONS_BAD: messages are in
 * `diag`.
 */
OptionsOutcome options_parse(Options *options, const CommandHelp *help, int argc, char **argv, Diag *diag);
void options_clear(Options *options);

/* What the study and scenario layers take; borrows from `options`. */
RunOptions options_run(const Options *options);
SamplesOptions options_samples(const Options *options);
ScenarioOptions options_scenario(const Options *options);
Changes options_changes(const Options *options);

#endif
