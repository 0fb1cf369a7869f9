#include "base/datadir.h"
#include "sim/cli/command.h"
#include "sim/cli/progress.h"
#include "sim/cli/session.h"
#include "sim/report/csv.h"
#include "sim/report/json.h"
#include "sim/report/text.h"
#include "sim/study/validate.h"

/* What was published has ended, some of it late: it isn't given up where another run would be. */
#define LIMIT_CYCLES G_GINT64_CONSTANT(10000000000)

static const CommandHelp help = {
    .name = "validate",
    .synopsis = "[SUITE...]",
    .about = "Runs the scenarios of a suite of published figures (all suites if none is named), each over at\n"
             "least 12 seeds or as many as its rows say, and sets prediction and publication side by side: error of\n"
             "each row, mean absolute error, rank correlation. -m and -s show what another machine or another\n"
             "value would give. A run is given up after ten times as many cycles as by other commands.",
    .groups = OPTIONS_MACHINE | OPTIONS_RUN | OPTIONS_SEEDS | OPTIONS_JOBS | OPTIONS_FORMAT,
    .example = "  lockstep validate li2015_table2 -s sm.barrier.arrive_to_resume=100\n",
};

static int write_suite(const Validation *validation, const Options *options, bool first, bool several) {
  g_autoptr(GString) text = g_string_new(NULL);
  Changes changes = options_changes(options);
  if (options->format == FORMAT_JSON) {
    g_autofree char *object = json_validation(validation, &changes);
    g_string_append_printf(text, "%s%s%s", !several ? "" : first ? "[\n" : ",\n", object, several ? "" : "\n");
  } else if (options->format == FORMAT_CSV) {
    if (first)
      csv_validation_header(text);
    csv_validation(validation, &changes, text);
  } else {
    Canvas canvas = {text, session_colour()};
    if (!first)
      g_string_append_c(text, '\n');
    text_validation(validation, &changes, &canvas);
  }
  return session_write(text->str);
}

static void free_validation(gpointer validation) { validation_free(validation); }

/* Those that can be read. */
static GPtrArray *read_suites(char **names, ValidateRuns *runs, Diag *diag) {
  GPtrArray *suites = g_ptr_array_new_with_free_func(free_validation);
  for (; *names; names++) {
    Validation *suite = suite_read(*names, diag);
    if (!suite)
      continue;
    validate_runs_want(runs, suite);
    g_ptr_array_add(suites, suite);
  }
  return suites;
}

static int run_suites(char **names, const Options *options, Diag *diag) {
  guint count = g_strv_length(names), written = 0;
  Progress progress;
  progress_init(&progress, count);
  Options shown = *options; /* borrows what it points to */
  if (shown.limit_cycles == (gint64)LIMIT_CYCLES_DEFAULT)
    shown.limit_cycles = LIMIT_CYCLES;
  shown.progress = &progress;
  ValidateOptions validate = {
      .samples = options_samples(&shown),
      .seeds = options->seeds > 0 ? (unsigned)options->seeds : SAMPLE_SEEDS_MIN,
      .machine = options->machines ? options->machines[0] : NULL,
      .overrides = (const char *const *)options->overrides,
  };
  validate.samples.step = progress_runs;
  validate.samples.step_user = &progress;
  g_autoptr(ValidateRuns) runs = validate_runs_new(&validate);
  g_autoptr(GPtrArray) suites = read_suites(names, runs, diag);
  int status = STATUS_OK;
  for (guint i = 0; i < suites->len && (i == 0 || !stop_asked(&options->stop)); i++) {
    Validation *validation = g_ptr_array_index(suites, i);
    progress_step(&progress, i, validation->suite);
    bool good = validate_suite(validation, runs, diag);
    progress_clear(&progress);
    if (!good)
      continue;
    if (validation->cut_short)
      status = exit_status_worst(status, session_cut_short(options, diag));
    status = exit_status_worst(status, validation_exit_status(validation));
    status = exit_status_worst(status, write_suite(validation, options, written++ == 0, count > 1));
  }
  progress_end(&progress);
  if (count > 1 && options->format == FORMAT_JSON)
    status = exit_status_worst(status, session_write(written ? "\n]\n" : "[]\n"));
  return status;
}

static int validate(const Options *options, Diag *diag) {
  if (options->seeds > 0 && options->seeds < SAMPLE_SEEDS_MIN)
    diag_usage(diag, "a figure needs at least %d seeds, since one phase of spinning warps isn't typical",
               SAMPLE_SEEDS_MIN);
  if (options->machines && options->machines[1])
    diag_usage(diag, "one machine at a time");
  int status = STATUS_OK;
  g_auto(GStrv) all = *options->rest ? NULL : suite_list();
  if (all && !all[0]) {
    g_autofree char *folder = datadir_join("validation", "published");
    diag_error(diag, NULL, 0, 0, "no suites in `%s`; is LOCKSTEP_DATA right?", folder);
  }
  if (all && !diag_has_errors(diag)) {
    g_autofree char *names = g_strjoinv(", ", all);
    diag_note(diag, NULL, 0, 0, "no suite is named: all of them are run, which takes long: %s", names);
  }
  if (!diag_has_errors(diag))
    status = run_suites(all ? all : options->rest, options, diag);
  return status;
}

int cmd_validate(int argc, char **argv) { return session_command(&help, argc, argv, validate); }
