#include <string.h>

#include "sim/cli/command.h"
#include "sim/cli/primitives_text.h"
#include "sim/cli/progress.h"
#include "sim/cli/session.h"
#include "sim/report/csv.h"
#include "sim/report/json.h"
#include "sim/report/text.h"
#include "sim/study/rank.h"

static const CommandHelp help = {
    .name = "rank",
    .synopsis = "SCENARIO...",
    .about = "Measures each scenario over at least 12 seeds and sets them side by side: mean and spread of the\n"
             "measured cycles, the ratio to the first scenario (or --baseline), shared memory beyond the data,\n"
             "lock bits. Scenarios that do different numbers of operations are compared by the time of one.\n"
             "A scenario that needs what only some of the machines have is left out on the others.\n"
             "--primitives, with -m and no scenario, answers Table 5 of Stuart and Owens for the machine: the best\n"
             "barrier, mutex and semaphore at several numbers of blocks, and where that changes; -p changes params\n"
             "that some of them have (-p imax=4).",
    .groups = OPTIONS_MACHINE | OPTIONS_SCENARIO | OPTIONS_LAUNCH | OPTIONS_RUN | OPTIONS_SEEDS | OPTIONS_BASELINE |
              OPTIONS_FORMAT | OPTIONS_PRIMITIVES,
    .example = "  lockstep rank traces/reduction/*.yaml -m gtx570\n"
               "  lockstep rank --primitives -m gtx1080ti --blocks 8,64,448\n",
};

static void free_scenario(gpointer scenario) { scenario_free(scenario); }

/* Moves the scenario called `name` to the front. */
static bool put_first(GPtrArray *scenarios, const char *name, Diag *diag) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < scenarios->len; i++) {
    Scenario *scenario = g_ptr_array_index(scenarios, i);
    if (strcmp(scenario->name, name) == 0) {
      g_ptr_array_insert(scenarios, 0, g_ptr_array_steal_index(scenarios, i));
      return true;
    }
    g_ptr_array_add(names, scenario->name);
  }
  g_ptr_array_add(names, NULL);
  diag_usage(diag, "--baseline: no scenario `%s` here", name);
  diag_hint_nearest(diag, name, (const char *const *)names->pdata);
  return false;
}

static GPtrArray *load_scenarios(const Options *options, Diag *diag) {
  g_autoptr(GPtrArray) scenarios = g_ptr_array_new_with_free_func(free_scenario);
  for (char **path = options->rest; *path; path++) {
    Scenario *scenario = session_load_scenario(*path, options, diag);
    if (scenario)
      g_ptr_array_add(scenarios, scenario);
  }
  if (diag_has_errors(diag) || (options->baseline && !put_first(scenarios, options->baseline, diag)))
    return NULL;
  return g_steal_pointer(&scenarios);
}

/* Why the machine can't run the scenario, as in an error; NULL if it can. Free with g_free. */
static char *refusal(const Scenario *scenario, const Machine *machine, Diag *diag) {
  g_autoptr(Diag) own = diag_new();
  scenario_program(scenario, machine, own);
  for (unsigned i = 0; i < diag_count(own); i++)
    if (diag_item(own, i)->severity == DIAG_ERROR)
      return g_strdup(diag_item(own, i)->message);
  diag_add_all(diag, own);
  return NULL;
}

static bool some_machine_runs(const Scenario *scenario, const GPtrArray *machines) {
  g_autoptr(Diag) own = diag_new();
  for (guint i = 0; i < machines->len; i++)
    if (scenario_program(scenario, g_ptr_array_index(machines, i), own))
      return true;
  return false;
}

/* The scenarios that are ranked on the machine. One that needs what only others of `machines` have is left out,
 * unless it is the baseline: then, as with one that none of them runs, it is an error. */
static GPtrArray *scenarios_on(const GPtrArray *scenarios, const Machine *machine, const GPtrArray *machines,
                               Diag *diag) {
  GPtrArray *chosen = g_ptr_array_new();
  for (guint i = 0; i < scenarios->len; i++) {
    Scenario *scenario = g_ptr_array_index(scenarios, i);
    g_autofree char *why = i && machines->len > 1 ? refusal(scenario, machine, diag) : NULL;
    if (why && some_machine_runs(scenario, machines))
      diag_note(diag, scenario->file, 0, 0, "%s isn't ranked on %s: %s", scenario->name, machine->name, why);
    else
      g_ptr_array_add(chosen, scenario);
  }
  return chosen;
}

static int rows_status(const GPtrArray *rows) {
  int status = STATUS_OK;
  for (guint i = 0; i < rows->len; i++) {
    const Measurement *row = g_ptr_array_index(rows, i);
    if (!row->as_expected)
      status = exit_status_worst(status, row->verdict == VERDICT_UNDECIDED ? STATUS_UNDECIDED : STATUS_FINDING);
  }
  return status;
}

static int write_rows(const GPtrArray *rows, const Machine *machine, const Options *options, bool first) {
  g_autoptr(GString) text = g_string_new(NULL);
  Changes changes = options_changes(options);
  if (options->format == FORMAT_JSON) {
    g_autofree char *object = json_rank(rows, machine, &changes);
    bool several = g_strv_length(options->machines ? options->machines : (char *[]){NULL}) > 1;
    g_string_append_printf(text, "%s%s%s", !several ? "" : first ? "[\n" : ",\n", object, several ? "" : "\n");
  } else if (options->format == FORMAT_CSV) {
    if (first)
      csv_rank_header(text);
    csv_rank(rows, machine, &changes, text);
  } else {
    Canvas canvas = {text, session_colour()};
    if (!first)
      g_string_append_c(text, '\n');
    text_rank(rows, machine, &changes, &canvas);
  }
  return session_write(text->str);
}

static void show_run(gpointer progress, guint done, guint total, const char *what) {
  (void)total;
  progress_step(progress, done, what);
}

/* Measures all scenarios on one machine; the rows' statuses go into `status`. */
static bool rank_machine(const GPtrArray *scenarios, const Machine *machine, const Options *options, bool first,
                         int *status, Diag *diag) {
  unsigned seeds = options->seeds > 0 ? (unsigned)options->seeds : SAMPLE_SEEDS_MIN;
  Progress progress;
  progress_init(&progress, scenarios->len * seeds);
  Options shown = *options; /* borrows what it points to */
  shown.progress = &progress;
  SamplesOptions samples = options_samples(&shown);
  samples.step = show_run;
  samples.step_user = &progress;
  g_autoptr(GPtrArray) rows = rank_scenarios(scenarios, machine, &samples, seeds, diag);
  progress_end(&progress);
  if (!rows)
    return false;
  const char *uncounted = rank_uncounted(rows);
  if (uncounted)
    diag_note(diag, NULL, 0, 0, "%s counts no operations (`measure: operations`), so ratios are of whole runs",
              uncounted);
  const Measurement *last = rows->len ? g_ptr_array_index(rows, rows->len - 1) : NULL;
  if (rows->len < scenarios->len || !last->whole)
    *status = exit_status_worst(*status, session_cut_short(options, diag));
  *status = exit_status_worst(*status, rows_status(rows));
  *status = exit_status_worst(*status, write_rows(rows, machine, options, first));
  return true;
}

static int rank(const Options *options, Diag *diag) {
  if (options->primitives)
    return primitives_rank_machines(options, diag);
  if (!*options->rest)
    diag_usage(diag, "no scenario named");
  if (options->blocks || options->ops)
    diag_usage(diag, "--blocks and --ops are for --primitives; a scenario's are its params, as in -p blocks=8");
  if (options->seeds > 0 && options->seeds < SAMPLE_SEEDS_MIN)
    diag_usage(diag, "a figure needs at least %d seeds, since one phase of spinning warps isn't typical",
               SAMPLE_SEEDS_MIN);
  if (diag_has_errors(diag))
    return STATUS_OK;
  g_autoptr(GPtrArray) scenarios = load_scenarios(options, diag);
  const char *fallback[] = {NULL, NULL};
  if (scenarios && !options->machines)
    fallback[0] = session_default_machine(g_ptr_array_index(scenarios, 0), diag);
  g_autoptr(GPtrArray) machines = diag_has_errors(diag) ? NULL : session_load_machines(options, fallback, diag);
  int status = STATUS_OK;
  for (guint i = 0; machines && i < machines->len && (i == 0 || !stop_asked(&options->stop)); i++) {
    const Machine *machine = g_ptr_array_index(machines, i);
    g_autoptr(GPtrArray) chosen = scenarios_on(scenarios, machine, machines, diag);
    if (!rank_machine(chosen, machine, options, i == 0, &status, diag))
      break;
  }
  if (machines && machines->len > 1 && options->format == FORMAT_JSON)
    status = exit_status_worst(status, session_write("\n]\n"));
  return status;
}

int cmd_rank(int argc, char **argv) { return session_command(&help, argc, argv, rank); }
