#include "sim/cli/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/datadir.h"
#include "sim/cli/progress.h"
#include "sim/report/csv.h"
#include "sim/report/details.h"
#include "sim/report/json.h"
#include "sim/report/text.h"

int session_report(const Diag *diag) {
  g_autofree char *text = diag_render(diag);
  fputs(text, stderr);
  return diag_exit_status(diag);
}

bool session_colour(void) {
  const char *forbidden = g_getenv("NO_COLOR");
  const char *terminal = g_getenv("TERM");
  return isatty(STDOUT_FILENO) && !(forbidden && *forbidden) && !(terminal && strcmp(terminal, "dumb") == 0);
}

int session_write(const char *text) {
  if (fputs(text, stdout) != EOF && fflush(stdout) == 0)
    return STATUS_OK;
  fprintf(stderr, "lockstep: error: can't write to standard output: %s\n", g_strerror(errno));
  return STATUS_INPUT;
}

int session_command(const CommandHelp *help, int argc, char **argv, int (*act)(const Options *options, Diag *diag)) {
  g_autoptr(Diag) diag = diag_new();
  Options options;
  OptionsOutcome outcome = options_parse(&options, help, argc, argv, diag);
  int status = STATUS_OK;
  if (outcome == OPTIONS_HELP)
    status = session_write(options.help);
  else if (outcome == OPTIONS_OK)
    status = act(&options, diag);
  options_clear(&options);
  return exit_status_worst(status, session_report(diag));
}

int session_cut_short(const Options *options, Diag *diag) {
  if (stop_asked(&options->stop) == STOP_SECONDS)
    diag_warning(diag, NULL, 0, 0, "--limit-seconds: the time was over before everything was done");
  return STATUS_UNDECIDED;
}

static void free_machine(gpointer machine) { machine_free(machine); }
static void free_result(gpointer result) { run_result_free(result); }

GPtrArray *session_load_machines(const Options *options, const char *const *fallback, Diag *diag) {
  g_autoptr(GPtrArray) machines = g_ptr_array_new_with_free_func(free_machine);
  const char *const *names = options->machines ? (const char *const *)options->machines : fallback;
  for (; *names; names++) {
    Machine *machine = machine_load(*names, (const char *const *)options->overrides, diag);
    if (!machine)
      return NULL;
    g_ptr_array_add(machines, machine);
  }
  return g_steal_pointer(&machines);
}

const char *session_default_machine(const Scenario *scenario, Diag *diag) {
  if (scenario->machines && scenario->machines[0])
    return scenario->machines[0];
  if (scenario->program->target_sm == 20)
    return "gtx570";
  diag_usage(diag, "no machine named for `%s`, whose target is sm_%u", scenario->file, scenario->program->target_sm);
  diag_hint(diag, "name one with -m; `lockstep machine list` shows them");
  return NULL;
}

Scenario *session_load_scenario(const char *path, const Options *options, Diag *diag) {
  g_autofree char *resolved = datadir_resolve(path);
  ScenarioOptions scenario_options = options_scenario(options);
  return scenario_load(resolved, &scenario_options, diag);
}

/* Where results go as they come: text and CSV at once, JSON as one object or, of several, as an array. */
typedef struct Output {
  Format format;
  bool colour, several;
  GPtrArray *results; /* those written so far */
} Output;

static int output_add(Output *output, RunResult *result) {
  g_autoptr(GString) text = g_string_new(NULL);
  bool first = output->results->len == 0;
  g_ptr_array_add(output->results, result);
  if (output->format == FORMAT_TEXT) {
    Canvas canvas = {text, output->colour};
    if (!first)
      g_string_append_c(text, '\n');
    text_run(result, &canvas);
  } else if (output->format == FORMAT_CSV) {
    if (first && result->details)
      details_csv_header(text);
    else if (first)
      csv_run_header(text);
    if (result->details)
      details_csv(result, text);
    else
      csv_run(result, text);
  } else {
    g_autofree char *object = json_run(result);
    g_string_append(text, !output->several ? "" : first ? "[\n" : ",\n");
    g_string_append(text, object);
    g_string_append(text, output->several ? "" : "\n");
  }
  return session_write(text->str);
}

static int output_end(Output *output) {
  if (!output->several)
    return STATUS_OK;
  if (output->format == FORMAT_JSON)
    return session_write(output->results->len ? "\n]\n" : "[]\n");
  if (output->format != FORMAT_TEXT || output->results->len < 2)
    return STATUS_OK;
  g_autoptr(GString) text = g_string_new("\n");
  Canvas canvas = {text, output->colour};
  text_summary(output->results, &canvas);
  return session_write(text->str);
}

/* Runs one scenario on its machines. */
static int run_scenario_on(const Scenario *scenario, const GPtrArray *machines, const Options *options,
                           SessionRunner runner, Output *output, Progress *progress, guint *done) {
  int status = STATUS_OK;
  for (guint i = 0; i < machines->len && !stop_asked(&options->stop); i++) {
    const Machine *machine = g_ptr_array_index(machines, i);
    g_autofree char *what = g_strdup_printf("%s on %s", scenario->name, machine->name);
    g_autoptr(Diag) diag = diag_new();
    progress_step(progress, (*done)++, what);
    RunResult *result = runner(scenario, machine, options, diag);
    progress_clear(progress);
    status = exit_status_worst(status, session_report(diag));
    if (!result)
      continue;
    status = exit_status_worst(status, run_result_exit_status(result));
    result->changes = options_changes(options);
    status = exit_status_worst(status, output_add(output, result));
  }
  return status;
}

/* Loads a scenario, and the machine it asks for if the user names none, and runs it. */
static int run_file(const char *path, GPtrArray *named, const Options *options, SessionRunner runner, Output *output,
                    Progress *progress, guint *done) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Scenario) scenario = session_load_scenario(path, options, diag);
  g_autoptr(GPtrArray) own = NULL;
  if (scenario && !named) {
    const char *names[] = {session_default_machine(scenario, diag), NULL};
    own = names[0] ? session_load_machines(options, names, diag) : NULL;
  }
  int status = session_report(diag);
  const GPtrArray *machines = named ? named : own;
  if (!scenario || !machines)
    return status;
  return exit_status_worst(status, run_scenario_on(scenario, machines, options, runner, output, progress, done));
}

int session_run_all(const Options *options, SessionRunner runner, Diag *diag) {
  guint files = g_strv_length(options->rest);
  guint runs = files * (options->machines ? g_strv_length(options->machines) : 1);
  if (files == 0) {
    diag_usage(diag, "no scenario named");
    diag_hint(diag, options->compiler_flags ? "what stands behind `--` goes to the compiler of a .cu"
                                            : "expected a .yaml, .sass, .ptx or .cu");
  }
  if (options->wait_graph && runs > 1)
    diag_usage(diag, "--wait-graph is for one run, and these are %u", runs);
  if (options->timeline && runs > 1)
    diag_usage(diag, "--timeline is for one run, and these are %u", runs);
  g_autoptr(GPtrArray) named = NULL;
  if (!diag_has_errors(diag) && options->machines)
    named = session_load_machines(options, NULL, diag);
  if (diag_has_errors(diag))
    return STATUS_OK;
  int status = STATUS_OK;
  g_autoptr(GPtrArray) results = g_ptr_array_new_with_free_func(free_result);
  Output output = {options->format, session_colour(), runs > 1, results};
  Progress progress;
  guint done = 0;
  progress_init(&progress, runs);
  Options shown = *options; /* borrows what it points to */
  shown.progress = &progress;
  for (guint i = 0; i < files && !stop_asked(&options->stop); i++)
    status = exit_status_worst(status, run_file(options->rest[i], named, &shown, runner, &output, &progress, &done));
  progress_end(&progress);
  if (done < runs && stop_asked(&options->stop))
    status = exit_status_worst(status, session_cut_short(options, diag));
  return exit_status_worst(status, output_end(&output));
}
