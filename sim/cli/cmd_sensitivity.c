#include <math.h>
#include <string.h>

#include "sim/cli/command.h"
#include "sim/cli/session.h"
#include "sim/cli/studies.h"
#include "sim/report/json_studies.h"
#include "sim/study/csv_field.h"
#include "sim/study/sweep/sensitivity.h"

enum { SEEDS = 4, NAME_COLUMN = 44, VALUE_COLUMN = 18 };
/* A smaller elasticity isn't shown in text. */
static const double shown_least = 0.005;

static const CommandHelp help = {
    .name = "sensitivity",
    .synopsis = "SCENARIO",
    .about =
        "Which parameters of the machine does the time hang on? Runs the scenario with each of them 10 % lower and\n"
        "10 % higher (--by), under the same seeds, and lists elasticities: 0.5 means that 1 % more makes the time\n"
        "0.5 % longer. What is large and has a weak source (guess, recalled) is what to measure next.",
    .groups = OPTIONS_MACHINE | OPTIONS_SCENARIO | OPTIONS_RUN | OPTIONS_STUDY | OPTIONS_SENSITIVITY | OPTIONS_FORMAT,
    .example = "  lockstep sensitivity traces/primitives/mutex_spin.yaml -m gtx580 --only memory\n",
};

/* Percent. */
static double changed_by(const Options *options) { return isnan(options->by) ? 10 : options->by; }

/* Seeds disagree about the sign. */
static bool is_noise(const Elasticity *row) { return row->lowest < 0 && row->highest > 0; }

static void append_text(GString *out, const Sensitivity *found, const Machine *machine, const Options *options) {
  guint silent = 0, failed = 0, noisy = 0;
  g_string_append_printf(out, "%.3f us on %s", found->base, machine->name);
  studies_changes(out, options);
  g_string_append_printf(out, "; %u run%s\n\n%-*s%-*s%12s  %-20s%s\n", found->runs, found->runs == 1 ? "" : "s",
                         NAME_COLUMN, "parameter", VALUE_COLUMN, "value", "elasticity", "over seeds", "source");
  for (guint i = 0; i < found->rows->len; i++) {
    const Elasticity *row = &g_array_index(found->rows, Elasticity, i);
    failed += row->problem != NULL;
    silent += !row->problem && fabs(row->mean) < shown_least;
    if (row->problem || fabs(row->mean) < shown_least)
      continue;
    g_autofree char *value = machine_param_text(machine, row->param);
    g_autofree char *range =
        g_strdup_printf("%+.3f .. %+.3f%s", row->lowest, row->highest, is_noise(row) ? " ?" : "");
    noisy += is_noise(row);
    const char *source = machine->sources[row->param] ? machine->sources[row->param] : "";
    g_string_append_printf(out, "%-*s%-*s%+12.3f  %-20s%.*s\n", NAME_COLUMN, machine_param_path(row->param),
                           VALUE_COLUMN, value, row->mean, range, (int)strcspn(source, ":"), source);
  }
  g_string_append_printf(out, "\n%u parameter%s with an elasticity below %g; %u that can't be changed so\n", silent,
                         silent == 1 ? "" : "s", shown_least, failed);
  if (noisy)
    g_string_append(out, "?: longer under some seeds and shorter under others, so no effect that could be told from "
                         "noise\n");
}

static void append_csv(GString *out, const Sensitivity *found, const Machine *machine) {
  static const char *const names[] = {
      "parameter",          "value",  "lower",   "higher", "elasticity", "elasticity_lowest",
      "elasticity_highest", "source", "problem", NULL};
  csv_field_header(out, names);
  g_string_append_c(out, '\n');
  for (guint i = 0; i < found->rows->len; i++) {
    const Elasticity *row = &g_array_index(found->rows, Elasticity, i);
    g_autofree char *value = machine_param_text(machine, row->param);
    csv_field(out, machine_param_path(row->param));
    csv_field(out, value);
    csv_field(out, row->lower);
    csv_field(out, row->higher);
    double numbers[] = {row->mean, row->lowest, row->highest};
    for (guint j = 0; j < G_N_ELEMENTS(numbers); j++)
      if (row->problem)
        csv_field(out, "");
      else
        csv_field_format(out, "%.6f", numbers[j]);
    csv_field(out, machine->sources[row->param]);
    csv_field(out, row->problem);
    g_string_append_c(out, '\n');
  }
}

static void append_json(GString *out, const Sensitivity *found, const Machine *machine, const Options *options,
                        unsigned seeds) {
  Changes changes = options_changes(options);
  g_autofree char *object = json_sensitivity(found, machine, options->rest[0], changed_by(options), &changes, seeds);
  g_string_append_printf(out, "%s\n", object);
}

/* The machine with what -s changes. */
static Machine *load_machine(const Plan *plan, const Options *options, Diag *diag) {
  const PlanPart *part = g_ptr_array_index(plan->parts, 0);
  if (part->machines->len)
    return machine_load(plan_part_text(part->machines, 0), (const char *const *)options->overrides, diag);
  g_autoptr(Scenario) scenario = session_load_scenario(options->rest[0], options, diag);
  const char *name = scenario ? session_default_machine(scenario, diag) : NULL;
  return name ? machine_load(name, (const char *const *)options->overrides, diag) : NULL;
}

/* A prefix that no parameter has would leave an empty table, or a gap in one. */
static void check_prefixes(char **prefixes, Diag *diag) {
  for (; prefixes && *prefixes; prefixes++) {
    bool found = false;
    for (unsigned i = 0; i < machine_param_count() && !found; i++)
      found = g_str_has_prefix(machine_param_path(i), *prefixes);
    if (!found) {
      diag_usage(diag, "--only %s: no parameter starts so", *prefixes);
      diag_hint(diag, "`lockstep doc machine` lists them");
    }
  }
}

static int sensitivity(const Options *options, Diag *diag) {
  double by = changed_by(options);
  if (!(by > 0 && by < 90))
    return diag_usage(diag, "--by %g: expected a percentage above 0 and below 90", by), STATUS_OK;
  check_prefixes(options->only, diag);
  if (diag_has_errors(diag))
    return STATUS_OK;
  g_autoptr(Plan) plan = studies_plan(options, SEEDS, diag);
  g_autoptr(Machine) machine = plan ? load_machine(plan, options, diag) : NULL;
  if (!machine)
    return STATUS_OK;
  Progress progress;
  SweepOptions sweep = studies_begin(options, &progress);
  g_autoptr(Sensitivity) found =
      sensitivity_of(plan, machine, by / 100, (const char *const *)options->only, &sweep, diag);
  progress_end(&progress);
  if (!found)
    return diag_has_errors(diag) ? STATUS_OK : studies_cut_short(options, diag);
  g_autoptr(GString) text = g_string_new(NULL);
  if (options->format == FORMAT_CSV)
    append_csv(text, found, machine);
  else if (options->format == FORMAT_JSON)
    append_json(text, found, machine, options, plan->seeds);
  else
    append_text(text, found, machine, options);
  return session_write(text->str);
}

int cmd_sensitivity(int argc, char **argv) { return session_command(&help, argc, argv, sensitivity); }
