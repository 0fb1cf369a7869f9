#include "sim/study/repairs.h"

/* What is put in changes what is known, not what happens: the run is the same, cycle for cycle. */
static bool is_gone(const Finding *finding, const Repair *repair, const Scenario *scenario, const Machine *machine,
                    const RunOptions *options, uint64_t cycles, Diag *diag) {
  RunOptions trial = *options;
  trial.trial = &(const RepairTrial){repair, finding};
  trial.observer = NULL;
  trial.keep_buffers = false;
  trial.limit_cycles = MIN(trial.limit_cycles, cycles + 1);
  g_autoptr(RunResult) run = run_scenario(scenario, machine, &trial, diag);
  if (!run || run->trial_misplaced || stop_is_final(run->stop))
    return false;
  for (guint i = 0; i < run->findings->len; i++)
    if (finding_same_place(g_ptr_array_index(run->findings, i), finding))
      return false;
  return true;
}

bool repairs_doubt(const Finding *finding, const Scenario *scenario, const Machine *machine,
                   const RunOptions *options, uint64_t cycles, Diag *diag) {
  return finding->doubt && is_gone(finding, finding->doubt, scenario, machine, options, cycles, diag);
}

static void word_as_hint(Finding *finding, const char *why) {
  char *hint = g_strdup_printf("hint, %s: %s", why, finding->repair);
  g_free(finding->repair);
  finding->repair = hint;
}

void repairs_try(Finding *finding, const Scenario *scenario, const Machine *machine, const RunOptions *options,
                 uint64_t cycles, Diag *diag) {
  bool orders = finding->id == FINDING_DATA_RACE || finding->id == FINDING_UNORDERED_ACCESS;
  if (!finding->repairs) {
    if (orders && finding->repair)
      word_as_hint(finding, "not tried in the model");
    return;
  }
  for (guint i = 0; i < finding->repairs->len; i++) {
    const Repair *repair = g_ptr_array_index(finding->repairs, i);
    if (!is_gone(finding, repair, scenario, machine, options, cycles, diag))
      continue;
    g_free(finding->repair);
    finding->repair = g_strdup(repair->text);
    return;
  }
  word_as_hint(finding, "which alone doesn't help in the model");
}
