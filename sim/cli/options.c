#include "sim/cli/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/cli/interrupt.h"
#include "sim/engine/team.h"

/* Commands that read programs, and so may have to compile one. */
enum { FLAGS_GROUPS = OPTIONS_LAUNCH | OPTIONS_SHOW };
/* What --seeds and --schedules hold while they aren't given. */
enum { SEEDS_DEFAULT = -1 };
/* What --from and --to do. */
enum { NOT_GIVEN = -1 };

enum { OPTIONS_MAX = 80, JOBS_MAX = 1024, HELP_COLUMN = 30, SECONDS_MAX = 1000000000 };

static const char *const format_names[] = {"text", "json", "csv", NULL};

/* A row of the table: the group it belongs to, what GOption needs, and where in Options its value goes. */
typedef struct Row {
  unsigned group;
  char short_name;
  const char *long_name, *value;
  GOptionArg type;
  gpointer target;
  const char *doc;
} Row;

/* What a row's target is, in GOption's words: char ***, gint64 *, double *, char **, char **, gboolean *. */
#define MANY G_OPTION_ARG_STRING_ARRAY
#define INTEGER G_OPTION_ARG_INT64
#define REAL G_OPTION_ARG_DOUBLE
#define TEXT G_OPTION_ARG_STRING
#define PATH G_OPTION_ARG_FILENAME
#define SWITCH G_OPTION_ARG_NONE
#define ALL_GROUPS (~0u)

/* Lists the rows of `groups`; `rows` has space for OPTIONS_MAX. Returns how many. */
static guint list_rows(Options *o, char **format, char **code, gboolean *help, unsigned groups, Row *rows) {
  const Row all[] = {
      {OPTIONS_MACHINE, 'm', "machine", "NAME", MANY, &o->machines, "a machine by name or file; may be repeated"},
      {OPTIONS_MACHINE, 's', "set", "PATH=VALUE", MANY, &o->overrides,
       "change a parameter: -s sm.lock_unit.bits=2048"},
      {OPTIONS_SCENARIO, 'p', "param", "NAME=VALUE", MANY, &o->params, "change a param of the scenario"},
      {OPTIONS_SCENARIO, 0, "code", "KIND", TEXT, code,
       "what PTX and CUDA source run as: ptx, or sass (machine code)"},
      {OPTIONS_RUN, 0, "seed", "N", INTEGER, &o->seed, "seed of all random choices (1)"},
      {OPTIONS_SEEDS, 0, "seeds", "N", INTEGER, &o->seeds, "how many seeds to try, from --seed on"},
      {OPTIONS_SCHEDULES, 0, "schedules", "N", INTEGER, &o->schedules,
       "how many schedules to try: policies, orders, seeds"},
      {OPTIONS_SCHEDULES, 'j', "jobs", "N", INTEGER, &o->jobs,
       "threads that schedules run on (1); 0: one a processor"},
      {OPTIONS_THREADS, 0, "threads", "N", INTEGER, &o->threads,
       "threads that a run's SMs share (one a processor if many are busy)"},
      {OPTIONS_RUN, 0, "limit-cycles", "N", INTEGER, &o->limit_cycles,
       "give up after N simulated cycles (1000000000)"},
      {OPTIONS_RUN, 0, "limit-seconds", "X", REAL, &o->limit_seconds,
       "end the command after X seconds, with what it has by then"},
      {OPTIONS_WAIT_GRAPH, 0, "wait-graph", "FILE", PATH, &o->wait_graph,
       "write who waits for whom in a deadlock, as DOT"},
      {OPTIONS_TIMELINE, 0, "timeline", "FILE", PATH, &o->timeline, "write Chrome trace events, for Perfetto"},
      {OPTIONS_DETAILS, 0, "details", NULL, SWITCH, &o->details, "what SMs, slices, links and the hottest lines did"},
      {OPTIONS_BASELINE, 0, "baseline", "NAME", TEXT, &o->baseline, "the scenario that ratios refer to (the first)"},
      {OPTIONS_FORMAT, 0, "format", "FORMAT", TEXT, format, "text, json or csv"},
      {OPTIONS_SHOW, 0, "cfg", NULL, SWITCH, &o->cfg, "the control flow graph, as DOT"},
      {OPTIONS_SHOW, 0, "reconvergence", NULL, SWITCH, &o->reconvergence,
       "the branches, and where their lanes rejoin"},
      {OPTIONS_SHOW, 0, "kernel", "NAME", TEXT, &o->kernel, "only this kernel; PTX as a machine runs it"},
      {OPTIONS_LAUNCH, 0, "kernel", "NAME", TEXT, &o->kernel, "bare program: the kernel"},
      {OPTIONS_LAUNCH, 0, "grid", "N[,N,N]", TEXT, &o->grid, "bare program: blocks"},
      {OPTIONS_LAUNCH, 0, "block", "N[,N,N]", TEXT, &o->block, "bare program: threads of a block"},
      {OPTIONS_LAUNCH, 0, "shared", "BYTES", TEXT, &o->shared, "bare program: dynamic shared memory"},
      {OPTIONS_LAUNCH, 0, "cooperative", NULL, SWITCH, &o->cooperative,
       "bare program: all blocks are resident together"},
      {OPTIONS_LAUNCH, 0, "heap", "BYTES", TEXT, &o->heap, "bare program: what malloc() in kernels has (8388608)"},
      {OPTIONS_LAUNCH, 0, "buffer", "NAME=WORDS[:INIT]", MANY, &o->buffers,
       "bare program: a buffer, zeros unless INIT says what"},
      {OPTIONS_LAUNCH, 0, "arg", "VALUE", MANY, &o->args, "bare program: an argument: buffer, number, struct"},
      {OPTIONS_OUTPUT, 'o', "output", "FILE", PATH, &o->output, "where the result goes"},
      {OPTIONS_DRAW, 0, "lanes", NULL, SWITCH, &o->lanes, "a row for each lane (if there are at most 64)"},
      {OPTIONS_DRAW, 0, "warps", NULL, SWITCH, &o->warps, "a row for each warp"},
      {OPTIONS_DRAW, 0, "from", "CYCLE", INTEGER, &o->from, "draw what happens from this cycle on"},
      {OPTIONS_DRAW, 0, "to", "CYCLE", INTEGER, &o->to, "and before this one"},
      {OPTIONS_SWEEP, 0, "seeds", "N", INTEGER, &o->seeds, "seeds of each point, from --seed on (1)"},
      {OPTIONS_SWEEP, 'j', "jobs", "N", INTEGER, &o->jobs, "points that run at a time (one a processor)"},
      {OPTIONS_SWEEP, 0, "counter", "NAME", MANY, &o->counters, "a counter that rows have besides; may be repeated"},
      {OPTIONS_SWEEP, 0, "point-seconds", "X", REAL, &o->point_seconds, "give a point up after X seconds"},
      {OPTIONS_SWEEP, 0, "shard", "I/N", TEXT, &o->shard, "only each N-th point, from the I-th on"},
      {OPTIONS_SWEEP, 0, "merge", NULL, SWITCH, &o->merge, "put the shards' files together"},
      {OPTIONS_SWEEP, 0, "count", NULL, SWITCH, &o->count, "only say how many points there are, and are done"},
      {OPTIONS_SWEEP, 0, "fresh", NULL, SWITCH, &o->fresh, "forget the rows that the file holds"},
      {OPTIONS_PLOT, 0, "x", "COLUMN", TEXT, &o->x, "the x axis (the parameter with most values)"},
      {OPTIONS_PLOT, 0, "y", "COLUMN", TEXT, &o->y, "what is shown (operations a second, else the time)"},
      {OPTIONS_PLOT, 0, "map", "COLUMN", TEXT, &o->map, "a map: this parameter upwards, --y as colour"},
      {OPTIONS_PLOT, 0, "curves", "COLUMN,...", TEXT, &o->curves, "what tells curves apart (all that varies)"},
      {OPTIONS_PLOT, 0, "panels", "COLUMN", TEXT, &o->panels, "a panel for each value (the machine)"},
      {OPTIONS_PLOT, 0, "where", "COLUMN=VALUE", MANY, &o->where, "only rows with this value; may be repeated"},
      {OPTIONS_PLOT, 0, "title", "TEXT", TEXT, &o->title, "the title"},
      {OPTIONS_PLOT, 0, "log", "AXES", TEXT, &o->log, "logarithmic axes: x, y, xy or none (by the values)"},
      {OPTIONS_PLOT, 0, "over", "SUITE", TEXT, &o->over, "put the published times of a suite over the curves"},
      {OPTIONS_PLOT, 0, "script", "FILE", PATH, &o->script, "keep the gnuplot program"},
      {OPTIONS_CLUSTER, 0, "slurm", NULL, SWITCH, &o->slurm,
       "submit the sweep to Slurm as a job array, a task a shard of -j processors"},
      {OPTIONS_CLUSTER, 0, "shards", "N", INTEGER, &o->shards,
       "how many (one for each 8 points, at most 100 and what the site takes)"},
      {OPTIONS_CLUSTER, 0, "partition", "NAME", TEXT, &o->partition, "where the tasks run, as sbatch takes it"},
      {OPTIONS_CLUSTER, 0, "time", "TIME", TEXT, &o->time, "how long a task may take, as sbatch takes it"},
      {OPTIONS_CLUSTER, 0, "account", "NAME", TEXT, &o->account, "who pays, as sbatch takes it"},
      {OPTIONS_CLUSTER, 0, "dry-run", NULL, SWITCH, &o->dry_run,
       "print the script for Slurm; submit and write nothing"},
      {OPTIONS_CLUSTER, 0, "status", NULL, SWITCH, &o->status, "shards done, running, waiting and failed"},
      {OPTIONS_CLUSTER, 0, "resume", NULL, SWITCH, &o->resume, "submit the shards that failed again, to go on"},
      {OPTIONS_STUDY, 0, "seeds", "N", INTEGER, &o->seeds, "seeds of each point, from --seed on (4)"},
      {OPTIONS_STUDY | OPTIONS_PRIMITIVES, 'j', "jobs", "N", INTEGER, &o->jobs, "runs at a time (one a processor)"},
      {OPTIONS_STUDY, 0, "point-seconds", "X", REAL, &o->point_seconds, "give a point up after X seconds"},
      {OPTIONS_SENSITIVITY, 0, "by", "PERCENT", REAL, &o->by, "how far parameters are changed (10)"},
      {OPTIONS_SENSITIVITY, 0, "only", "PREFIX", MANY, &o->only,
       "only parameters whose path starts so; may be repeated"},
      {OPTIONS_TUNE, 0, "budget", "N", INTEGER, &o->budget, "how many points are measured (60)"},
      {OPTIONS_PRIMITIVES, 0, "primitives", NULL, SWITCH, &o->primitives,
       "rank barriers, mutexes and semaphores of traces/primitives"},
      {OPTIONS_PRIMITIVES, 0, "blocks", "VALUES", TEXT, &o->blocks,
       "--primitives: at these numbers of blocks (4, 8, 16 ... all resident)"},
      {OPTIONS_PRIMITIVES, 0, "ops", "N", INTEGER, &o->ops,
       "--primitives: operations of a block (20, fewer of many blocks)"},
      {ALL_GROUPS, 'h', "help", NULL, SWITCH, help, "show this help"},
  };
  guint count = 0;
  G_STATIC_ASSERT(G_N_ELEMENTS(all) <= OPTIONS_MAX);
  for (guint i = 0; i < G_N_ELEMENTS(all); i++)
    if (all[i].group & groups || all[i].group == ALL_GROUPS)
      rows[count++] = all[i];
  return count;
}

static char *help_text(const CommandHelp *help, const Row *rows, guint count) {
  GString *text = g_string_new(NULL);
  g_string_printf(text, "Usage: lockstep %s %s%s\n\n%s\n\nOptions:\n", help->name, count > 1 ? "[OPTION...] " : "",
                  help->synopsis, help->about);
  for (guint i = 0; i < count; i++) {
    g_autofree char *name =
        g_strdup_printf("--%s%s%s", rows[i].long_name, rows[i].value ? " " : "", rows[i].value ? rows[i].value : "");
    g_string_append_printf(text, "  %c%c%s %-*s %s\n", rows[i].short_name ? '-' : ' ',
                           rows[i].short_name ? rows[i].short_name : ' ', rows[i].short_name ? "," : " ",
                           HELP_COLUMN - 4, name, rows[i].doc);
  }
  if (help->groups & FLAGS_GROUPS)
    g_string_append_printf(text, "      %-*s %s\n", HELP_COLUMN - 4, "-- FLAG...",
                           "of a .cu: flags for nvcc, as in -- -I include -DN=4");
  g_string_append_printf(text, "\nExample:\n%s", help->example);
  return g_string_free(text, FALSE);
}

/* GOption names an unknown option at the end of its message: adds the nearest that there is. */
static void report_error(const CommandHelp *help, const Row *rows, guint count, const GError *error, Diag *diag) {
  g_autofree char *message = g_strdup(error->message);
  message[0] = g_ascii_tolower(message[0]);
  diag_usage(diag, "%s", message);
  if (g_error_matches(error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION)) {
    const char *names[OPTIONS_MAX + 1] = {NULL};
    for (guint i = 0; i < count; i++)
      names[i] = rows[i].long_name;
    const char *dashes = strstr(message, "--");
    const char *nearest = dashes ? diag_nearest(dashes + 2, names) : NULL;
    if (nearest)
      diag_hint(diag, "did you mean `--%s`?", nearest);
  }
  diag_hint(diag, "see `lockstep %s --help`", help->name);
}

static bool take_format(Options *options, const char *name, Diag *diag) {
  for (Format format = FORMAT_TEXT; name && format < FORMAT_COUNT; format++) {
    if (strcmp(name, format_names[format]) == 0) {
      options->format = format;
      return true;
    }
  }
  if (!name)
    return true;
  diag_usage(diag, "unknown format `%s`", name);
  diag_hint_nearest(diag, name, format_names);
  diag_hint(diag, "formats are text, json and csv");
  return false;
}

static bool take_code(Options *options, const char *code, Diag *diag) {
  static const char *const names[] = {"ptx", "sass", NULL};
  if (code && !g_strv_contains(names, code)) {
    diag_usage(diag, "--code %s: expected `ptx` or `sass`", code);
    diag_hint_nearest(diag, code, names);
    return false;
  }
  options->code_kind = !code ? CODE_BEST : strcmp(code, "ptx") == 0 ? CODE_PTX : CODE_MACHINE;
  return true;
}

static bool check_ranges(const Options *options, Diag *diag) {
  if (options->limit_cycles <= 0)
    return diag_usage(diag, "--limit-cycles must be above 0");
  if (!isnan(options->limit_seconds) && !(options->limit_seconds > 0 && options->limit_seconds <= SECONDS_MAX))
    return diag_usage(diag, "--limit-seconds must be above 0, and at most %d", SECONDS_MAX);
  if (!isnan(options->point_seconds) && !(options->point_seconds > 0 && options->point_seconds <= SECONDS_MAX))
    return diag_usage(diag, "--point-seconds must be above 0, and at most %d", SECONDS_MAX);
  if (options->seed < 0)
    return diag_usage(diag, "--seed must not be negative");
  if (options->seeds != SEEDS_DEFAULT && (options->seeds < 1 || options->seeds > 1000000))
    return diag_usage(diag, "--seeds must be between 1 and 1000000");
  if (options->schedules != SEEDS_DEFAULT && (options->schedules < 1 || options->schedules > 1000000))
    return diag_usage(diag, "--schedules must be between 1 and 1000000");
  if (options->jobs < 0 || options->jobs > JOBS_MAX)
    return diag_usage(diag, "--jobs must be between 0 and %d", JOBS_MAX);
  if (options->from < NOT_GIVEN || options->to < NOT_GIVEN)
    return diag_usage(diag, "--from and --to are cycles, from 0 on");
  if (options->threads < 0 || options->threads > TEAM_THREADS_MAX)
    return diag_usage(diag, "--threads must be between 0 and %d", TEAM_THREADS_MAX);
  if (options->schedules != SEEDS_DEFAULT && options->seeds != SEEDS_DEFAULT)
    return diag_usage(diag, "--schedules counts seeds, too: give --seeds or --schedules");
  return true;
}

/* Parses with GOption, whose argument vector it may reorder but doesn't own. */
static bool parse(Options *options, const CommandHelp *help, const Row *rows, guint count, char ***argv, Diag *diag) {
  GOptionEntry entries[OPTIONS_MAX + 2] = {{.long_name = NULL}};
  for (guint i = 0; i < count; i++)
    entries[i] = (GOptionEntry){rows[i].long_name, rows[i].short_name, 0, rows[i].type, rows[i].target,
                                rows[i].doc,       rows[i].value};
  entries[count] = (GOptionEntry){G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options->rest, NULL, NULL};
  g_autoptr(GOptionContext) context = g_option_context_new(NULL);
  g_autoptr(GError) error = NULL;
  g_option_context_set_help_enabled(context, FALSE);
  g_option_context_add_main_entries(context, entries, NULL);
  if (g_option_context_parse_strv(context, argv, &error))
    return true;
  report_error(help, rows, count, error, diag);
  return false;
}

/* Cuts the arguments off at `--`; what stands behind it goes to the compiler. NULL: there is no `--`. */
static char **take_flags(char **argv) {
  while (*argv && strcmp(*argv, "--") != 0)
    argv++;
  if (!*argv)
    return NULL;
  char **flags = g_strdupv(argv + 1);
  for (; *argv; argv++)
    g_clear_pointer(argv, g_free);
  return flags;
}

OptionsOutcome options_parse(Options *options, const CommandHelp *help, int argc, char **argv, Diag *diag) {
  *options = (Options){.seed = 1,
                       .seeds = SEEDS_DEFAULT,
                       .schedules = SEEDS_DEFAULT,
                       .jobs = help->groups & (OPTIONS_SWEEP | OPTIONS_STUDY | OPTIONS_PRIMITIVES) ? 0 : 1,
                       .limit_cycles = (gint64)LIMIT_CYCLES_DEFAULT,
                       .limit_seconds = NAN,
                       .point_seconds = NAN,
                       .by = NAN,
                       .from = NOT_GIVEN,
                       .to = NOT_GIVEN,
                       .stop = {.signal = interrupt_signal()}};
  Row rows[OPTIONS_MAX];
  g_autofree char *format = NULL, *code = NULL;
  gboolean help_wanted = FALSE;
  guint count = list_rows(options, &format, &code, &help_wanted, help->groups, rows);
  g_auto(GStrv) copy = g_strdupv(argv);
  if (help->groups & FLAGS_GROUPS)
    options->compiler_flags = take_flags(copy);
  bool parsed = parse(options, help, rows, count, &copy, diag);
  if (!options->rest)
    options->rest = g_new0(char *, 1);
  if (parsed && help_wanted) {
    options->help = help_text(help, rows, count);
    return OPTIONS_HELP;
  }
  if (!parsed || !take_format(options, format, diag) || !take_code(options, code, diag) ||
      !check_ranges(options, diag))
    return OPTIONS_BAD;
  if (!isnan(options->limit_seconds))
    options->stop.deadline = g_get_monotonic_time() + (gint64)(options->limit_seconds * G_USEC_PER_SEC);
  return OPTIONS_OK;
}

void options_clear(Options *options) {
  g_strfreev(options->machines);
  g_strfreev(options->overrides);
  g_strfreev(options->params);
  g_strfreev(options->buffers);
  g_strfreev(options->args);
  g_strfreev(options->compiler_flags);
  g_strfreev(options->rest);
  g_free(options->kernel);
  g_free(options->grid);
  g_free(options->block);
  g_free(options->shared);
  g_free(options->heap);
  g_free(options->wait_graph);
  g_free(options->timeline);
  g_free(options->baseline);
  g_free(options->output);
  g_free(options->shard);
  g_strfreev(options->where);
  g_strfreev(options->only);
  g_free(options->blocks);
  char *texts[] = {options->x,     options->y,   options->map,  options->curves, options->panels,
                   options->title, options->log, options->over, options->script};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    g_free(texts[i]);
  g_free(options->partition);
  g_free(options->time);
  g_free(options->account);
  g_strfreev(options->counters);
  g_free(options->help);
  *options = (Options){0};
}

RunOptions options_run(const Options *options) {
  RunOptions run = run_options_default();
  run.seed = (uint64_t)options->seed;
  run.limit_cycles = (uint64_t)options->limit_cycles;
  run.threads = (uint32_t)options->threads;
  run.details = options->details;
  run.stop = &options->stop;
  if (options->progress) {
    options->progress->limit_cycles = run.limit_cycles;
    run.heartbeat = progress_heartbeat;
    run.heartbeat_user = options->progress;
  }
  return run;
}

ScenarioOptions options_scenario(const Options *options) {
  return (ScenarioOptions){
      .params = (const char *const *)options->params,
      .kernel = options->kernel,
      .grid = options->grid,
      .block = options->block,
      .shared = options->shared,
      .heap = options->heap,
      .buffers = (const char *const *)options->buffers,
      .args = (const char *const *)options->args,
      .cooperative = options->cooperative,
      .machine = options->machines ? options->machines[0] : NULL,
      .settings = (const char *const *)options->overrides,
      .compiler_flags = (const char *const *)options->compiler_flags,
      .code = options->code_kind,
  };
}

Changes options_changes(const Options *options) {
  return (Changes){(const char *const *)options->overrides, (const char *const *)options->params};
}
