#include "base/datadir.h"
#include "sim/cli/command.h"
#include "sim/cli/progress.h"
#include "sim/cli/session.h"
#include "sim/report/csv.h"
#include "sim/report/json.h"
#include "sim/report/text.h"
#include "sim/study/validate.h"

static const CommandHelp help = {
    .name = "validate",
    .synopsis = "[SUITE...]",
    .about = "Runs the scenarios of a suite of published figures (all suites if none is named), each over at\n"
             "least 12 seeds, and sets prediction and publication side by side: error of each row, mean absolute\n"
             "error, rank correlation. -m and -s show what another machine or another value would give.",
    .groups = OPTIONS_MACHINE | OPTIONS_RUN | OPTIONS_SEEDS | OPTIONS_FORMAT,
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

static int run_suites(char **suites, const Options *options, Diag *diag) {
  g_autoptr(GHashTable) samples = validate_samples_new();
  ValidateOptions validate = {
      .run = options_run(options),
      .seeds = options->seeds > 0 ? (unsigned)options->seeds : RANK_SEEDS_MIN,
      .machine = options->machines ? options->machines[0] : NULL,
      .overrides = (const char *const *)options->overrides,
      .samples = samples,
  };
  guint count = g_strv_length(suites), written = 0;
  int status = STATUS_OK;
  Progress progress;
  progress_init(&progress, count);
  for (guint i = 0; i < count && (i == 0 || !stop_asked(&options->stop)); i++) {
    progress_step(&progress, i, suites[i]);
    g_autoptr(Validation) validation = validate_suite(suites[i], &validate, diag);
    progress_clear(&progress);
    if (!validation)
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
  if (options->seeds > 0 && options->seeds < RANK_SEEDS_MIN)
    diag_usage(diag, "a figure needs at least %d seeds, since one phase of spinning warps isn't typical",
               RANK_SEEDS_MIN);
  if (options->machines && options->machines[1])
    diag_usage(diag, "one machine at a time");
  int status = STATUS_OK;
  g_auto(GStrv) all = *options->rest ? NULL : validate_list();
  if (all && !all[0]) {
    g_autofree char *folder = datadir_join("validation", "published");
    diag_error(diag, NULL, 0, 0, "no suites in `%s`; is LOCKSTEP_DATA right?", folder);
  }
  if (!diag_has_errors(diag))
    status = run_suites(all ? all : options->rest, options, diag);
  return status;
}

int cmd_validate(int argc, char **argv) { return session_command(&help, argc, argv, validate); }
