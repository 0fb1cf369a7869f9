#include "sim/cli/options.h"

#include <float.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/quote.h"
#include "sim/cli/interrupt.h"
#include "sim/engine/team.h"
#include "sim/study/sweep/plan.h"
#include "sim/study/twice.h"

/* Commands that read programs, and so may have to compile one. */
enum { FLAGS_GROUPS = OPTIONS_LAUNCH | OPTIONS_SHOW };
/* What numbers hold while they are parsed and aren't given: nobody would write them. */
#define INTEGER_NOT_GIVEN G_MININT64
#define REAL_NOT_GIVEN (-DBL_MAX)

enum {
  OPTIONS_MAX = 80,
  JOBS_MAX = 1024,
  HELP_COLUMN = 30,
  SECONDS_MAX = 1000000000,
  SEEDS_MAX = 1000000,
  BUDGET_MAX = 100000,
  OPS_MAX = 10000 /* of a block: a mutex of all blocks comes to the limit of cycles then */
};

static const char *const format_names[] = {"text", "json", "csv", NULL};

/* A row of the table: the groups it belongs to, what GOption needs, and where in Options its value goes. */
typedef struct Row {
  unsigned groups;
  char short_name;
  const char *long_name, *value;
  GOptionArg type;
  size_t field; /* offset in Options */
  const char *doc;
} Row;

/* What a row's field is, in GOption's words: char **, gint64, double, char *, char *, gboolean. */
#define MANY G_OPTION_ARG_STRING_ARRAY
#define INTEGER G_OPTION_ARG_INT64
#define REAL G_OPTION_ARG_DOUBLE
#define TEXT G_OPTION_ARG_STRING
#define PATH G_OPTION_ARG_FILENAME
#define SWITCH G_OPTION_ARG_NONE
#define ALL_GROUPS (~0u)

static const Row all_rows[] = {
#define OPTION(groups, short_name, long_name, value, type, field, doc) \
  {groups, short_name, long_name, value, type, offsetof(Options, field), doc},
#include "sim/cli/options.def"
#undef OPTION
};
G_STATIC_ASSERT(G_N_ELEMENTS(all_rows) <= OPTIONS_MAX);

/* Lists the rows of `groups`; `rows` has space for OPTIONS_MAX. Returns how many. */
static guint list_rows(unsigned groups, Row *rows) {
  guint count = 0;
  for (guint i = 0; i < G_N_ELEMENTS(all_rows); i++)
    if (all_rows[i].groups & groups || all_rows[i].groups == ALL_GROUPS)
      rows[count++] = all_rows[i];
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

static bool take_format(Options *options, Diag *diag) {
  const char *name = options->format_name;
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

static bool take_code(Options *options, Diag *diag) {
  static const char *const names[] = {"ptx", "sass", NULL};
  const char *code = options->code_name;
  if (code && !g_strv_contains(names, code)) {
    diag_usage(diag, "--code %s: expected `ptx` or `sass`", code);
    diag_hint_nearest(diag, code, names);
    return false;
  }
  options->code_kind = !code ? CODE_BEST : strcmp(code, "ptx") == 0 ? CODE_PTX : CODE_MACHINE;
  return true;
}

/* A whole number that may be left out: what it may be, and what its field holds without it. */
typedef struct NumberRange {
  const char *option;
  size_t field;
  gint64 lowest, highest, otherwise;
} NumberRange;

static const NumberRange number_ranges[] = {
    {"seeds", offsetof(Options, seeds), 1, SEEDS_MAX, -1},
    {"schedules", offsetof(Options, schedules), 1, SEEDS_MAX, -1},
    {"from", offsetof(Options, from), 0, G_MAXINT64, -1},
    {"to", offsetof(Options, to), 0, G_MAXINT64, -1},
    {"threads", offsetof(Options, threads), 0, TEAM_THREADS_MAX, 0},
    {"budget", offsetof(Options, budget), 1, BUDGET_MAX, 0},
    {"ops", offsetof(Options, ops), 1, OPS_MAX, 0},
    {"shards", offsetof(Options, shards), 1, PLAN_POINTS_MAX, 0},
    {"jobs", offsetof(Options, jobs), 0, JOBS_MAX, 0},
    {"seed", offsetof(Options, seed), 0, G_MAXINT64, 1},
    {"limit-cycles", offsetof(Options, limit_cycles), 1, G_MAXINT64, (gint64)LIMIT_CYCLES_DEFAULT},
};

static gpointer field_at(Options *options, size_t field) { return (char *)options + field; }

static bool check_number(Options *options, const NumberRange *range, Diag *diag) {
  gint64 *number = field_at(options, range->field);
  if (*number == INTEGER_NOT_GIVEN)
    *number = range->otherwise;
  else if (*number < range->lowest && range->highest == G_MAXINT64)
    return diag_usage(diag, "--%s must be at least %" PRId64, range->option, range->lowest);
  else if (*number < range->lowest || *number > range->highest)
    return diag_usage(diag, "--%s must be between %" PRId64 " and %" PRId64, range->option, range->lowest,
                      range->highest);
  return true;
}

/* Seconds that aren't given are NAN from here on; given ones are above 0. */
static bool check_seconds(double *seconds, const char *option, Diag *diag) {
  if (*seconds == REAL_NOT_GIVEN)
    *seconds = NAN;
  else if (!(*seconds > 0 && *seconds <= SECONDS_MAX))
    return diag_usage(diag, "--%s must be above 0, and at most %d", option, SECONDS_MAX);
  return true;
}

static bool check_ranges(Options *options, Diag *diag) {
  bool seeds = options->seeds != INTEGER_NOT_GIVEN, schedules = options->schedules != INTEGER_NOT_GIVEN;
  for (gsize i = 0; i < G_N_ELEMENTS(number_ranges); i++)
    if (!check_number(options, &number_ranges[i], diag))
      return false;
  if (isnan(options->by))
    return diag_usage(diag, "--by must be a number");
  if (options->by == REAL_NOT_GIVEN)
    options->by = NAN;
  if (seeds && schedules)
    return diag_usage(diag, "--schedules counts seeds, too: give --seeds or --schedules");
  return check_seconds(&options->limit_seconds, "limit-seconds", diag) &&
         check_seconds(&options->point_seconds, "point-seconds", diag);
}

static gpointer field_of(Options *options, const Row *row) { return field_at(options, row->field); }

/* A text goes into messages, tables and pictures, which are UTF-8. (The name of a file may be anything.) */
static bool check_texts(Options *options, const Row *rows, guint count, Diag *diag) {
  for (guint i = 0; i < count; i++) {
    gpointer field = field_of(options, &rows[i]);
    char *one[] = {rows[i].type == TEXT ? *(char **)field : NULL, NULL};
    char **texts = rows[i].type == MANY ? *(char ***)field : one;
    for (; texts && *texts; texts++)
      if (!g_utf8_validate(*texts, -1, NULL)) {
        g_autofree char *quoted = quote_text(*texts);
        return diag_usage(diag, "--%s %s: isn't UTF-8", rows[i].long_name, quoted);
      }
  }
  return true;
}

/* An unset variable of a shell gives an empty name, which would be noticed when the results are to be written. */
static bool check_paths(Options *options, const Row *rows, guint count, Diag *diag) {
  for (guint i = 0; i < count; i++) {
    const char *path = rows[i].type == PATH ? *(char **)field_of(options, &rows[i]) : NULL;
    if (path && !*path)
      return diag_usage(diag, "--%s: the name is empty; expected that of a file", rows[i].long_name);
    if (path && strcmp(path, "-") == 0)
      return diag_usage(diag, "--%s -: expected the name of a file; /dev/stdout is standard output",
                        rows[i].long_name);
  }
  return true;
}

static bool is_one_of(const char *path, char **names) {
  GStatBuf info, other;
  if (g_stat(path, &info) != 0 || !S_ISREG(info.st_mode))
    return false;
  for (; names && *names; names++)
    if (g_stat(*names, &other) == 0 && info.st_dev == other.st_dev && info.st_ino == other.st_ino)
      return true;
  return false;
}

/* What is written would take the place of what is read. */
static bool check_inputs(Options *options, const Row *rows, guint count, Diag *diag) {
  for (guint i = 0; i < count; i++) {
    const char *path = rows[i].type == PATH ? *(char **)field_of(options, &rows[i]) : NULL;
    if (path && (is_one_of(path, options->rest) || is_one_of(path, options->machines)))
      return diag_usage(diag, "--%s %s: that is a file which the command reads", rows[i].long_name, path);
  }
  return true;
}

/* Which of two values would count? */
static bool check_once(char **changes, const char *letter, bool takes_lists, Diag *diag) {
  const char *first, *second = twice_find((const char *const *)changes, &first);
  if (!second)
    return true;
  diag_usage(diag, "-%s %s: it is given already, as -%s %s", letter, second, letter, first);
  if (takes_lists)
    diag_hint(diag, "several values are a list: -%s %s,%s", letter, first, strchr(second, '=') + 1);
  return false;
}

static bool check_changes(Options *options, const CommandHelp *help, Diag *diag) {
  bool takes_lists = help->groups & OPTIONS_SWEEP;
  return check_once(options->overrides, "s", takes_lists, diag) &&
         check_once(options->params, "p", takes_lists, diag);
}

/* Texts are taken as they are, as names of files: GOption would refuse letters that the locale hasn't, and the C
 * locale has ASCII only. */
static GOptionArg taken_as(GOptionArg type) {
  return type == TEXT ? G_OPTION_ARG_FILENAME : type == MANY ? G_OPTION_ARG_FILENAME_ARRAY : type;
}

/* Parses with GOption, whose argument vector it may reorder but doesn't own. */
static bool parse(Options *options, const CommandHelp *help, const Row *rows, guint count, char ***argv, Diag *diag) {
  GOptionEntry entries[OPTIONS_MAX + 2] = {{.long_name = NULL}};
  for (guint i = 0; i < count; i++)
    entries[i] =
        (GOptionEntry){rows[i].long_name, rows[i].short_name, 0, taken_as(rows[i].type), field_of(options, &rows[i]),
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

static bool takes_value(const Row *rows, guint count, char short_name) {
  for (guint i = 0; i < count; i++)
    if (rows[i].short_name == short_name)
      return rows[i].value != NULL;
  return false;
}

/* "-j4" becomes "-j" and "4": GOption takes a short option's value from the next argument only. */
static char **split_values(char *const *argv, const Row *rows, guint count) {
  g_autoptr(GStrvBuilder) split = g_strv_builder_new();
  for (bool options = true; *argv; argv++) {
    const char *argument = *argv;
    options = options && strcmp(argument, "--") != 0;
    if (options && argument[0] == '-' && argument[1] && argument[2] && takes_value(rows, count, argument[1])) {
      g_autofree char *name = g_strndup(argument, 2);
      g_strv_builder_add(split, name);
      argument += 2;
    }
    g_strv_builder_add(split, argument);
  }
  return g_strv_builder_end(split);
}

/* The row of an option, "--seed", "--seed=1" or "-j"; `value` gets what stands behind its `=`, or NULL. */
static const Row *find_row(const char *argument, const Row *rows, guint count, const char **value) {
  *value = NULL;
  for (guint i = 0; argument[0] == '-' && i < count; i++) {
    gsize length = strlen(rows[i].long_name);
    if (argument[1] == '-' && strncmp(argument + 2, rows[i].long_name, length) == 0 &&
        (!argument[2 + length] || argument[2 + length] == '=')) {
      *value = argument[2 + length] ? argument + 3 + length : NULL;
      return &rows[i];
    }
    if (rows[i].short_name && argument[1] == rows[i].short_name && !argument[2])
      return &rows[i];
  }
  return NULL;
}

/* GOption would take the last of several values, and say nothing. */
static bool check_single(char *const *argv, const Row *rows, guint count, Diag *diag) {
  const char *given[OPTIONS_MAX] = {NULL};
  for (; *argv && strcmp(*argv, "--") != 0; argv++) {
    const char *value;
    const Row *row = find_row(*argv, rows, count, &value);
    if (!row || !row->value)
      continue;
    if (!value && !*++argv)
      break; /* it has none: GOption says so */
    value = value ? value : *argv;
    const char **first = &given[row - rows];
    if (row->type != MANY && *first) {
      g_autofree char *quoted = quote_text(*first), *other = quote_text(value);
      return diag_usage(diag, "--%s is given twice: %s and %s", row->long_name, quoted, other);
    }
    *first = value;
  }
  return true;
}

OptionsOutcome options_parse(Options *options, const CommandHelp *help, int argc, char **argv, Diag *diag) {
  *options = (Options){.limit_seconds = REAL_NOT_GIVEN,
                       .point_seconds = REAL_NOT_GIVEN,
                       .by = REAL_NOT_GIVEN,
                       .stop = {.signal = interrupt_signal()}};
  for (gsize i = 0; i < G_N_ELEMENTS(number_ranges); i++)
    *(gint64 *)field_at(options, number_ranges[i].field) = INTEGER_NOT_GIVEN;
  Row rows[OPTIONS_MAX];
  guint count = list_rows(help->groups, rows);
  g_auto(GStrv) copy = split_values(argv, rows, count);
  if (help->groups & FLAGS_GROUPS)
    options->compiler_flags = take_flags(copy);
  bool parsed = check_single(copy, rows, count, diag) && parse(options, help, rows, count, &copy, diag);
  if (!options->rest)
    options->rest = g_new0(char *, 1);
  if (parsed && options->help_wanted) {
    options->help = help_text(help, rows, count);
    return OPTIONS_HELP;
  }
  if (!parsed || !check_texts(options, rows, count, diag) || !check_paths(options, rows, count, diag) ||
      !check_inputs(options, rows, count, diag) || !check_changes(options, help, diag) ||
      !take_format(options, diag) || !take_code(options, diag) || !check_ranges(options, diag))
    return OPTIONS_BAD;
  if (!isnan(options->limit_seconds))
    options->stop.deadline = g_get_monotonic_time() + (gint64)(options->limit_seconds * G_USEC_PER_SEC);
  return OPTIONS_OK;
}

void options_clear(Options *options) {
  for (guint i = 0; i < G_N_ELEMENTS(all_rows); i++) {
    gpointer field = field_of(options, &all_rows[i]);
    if (all_rows[i].type == MANY)
      g_clear_pointer((char ***)field, g_strfreev);
    else if (all_rows[i].type == TEXT || all_rows[i].type == PATH)
      g_clear_pointer((char **)field, g_free);
  }
  g_strfreev(options->compiler_flags);
  g_strfreev(options->rest);
  g_free(options->help);
  *options = (Options){0};
}

RunOptions options_run(const Options *options) {
  RunOptions run = run_options_default();
  run.seed = (uint64_t)options->seed;
  run.limit_cycles = (uint64_t)options->limit_cycles;
  run.threads = (uint32_t)options->threads;
  run.details = options->details;
  run.graph = options->wait_graph || options->format == FORMAT_JSON;
  run.digest = options->format == FORMAT_JSON;
  run.stop = &options->stop;
  if (options->progress) {
    options->progress->limit_cycles = run.limit_cycles;
    run.heartbeat = progress_heartbeat;
    run.heartbeat_user = options->progress;
  }
  return run;
}

SamplesOptions options_samples(const Options *options) {
  return (SamplesOptions){.run = options_run(options),
                          .jobs = options->jobs ? (unsigned)options->jobs : g_get_num_processors()};
}

ScenarioOptions options_scenario(const Options *options) {
  return (ScenarioOptions){
      .params = (const char *const *)options->params,
      .kernel = options->kernel,
      .grid = options->grid,
      .block = options->block,
      .cluster = options->cluster,
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
