#include "sim/study/repairs.h"

/* What a run with something put in says of a finding. */
typedef enum {
  TRIAL_STANDS,
  TRIAL_MISPLACED, /* it can't stand there, so whether the finding stands isn't known */
  TRIAL_GONE,
  TRIAL_STOPPED
} TrialEnd;

/* What is put in changes what is known, not what happens: the run is the same, cycle for cycle. */
static TrialEnd try_with(const Finding *finding, const Repair *repair, const Scenario *scenario,
                         const Machine *machine, const RunOptions *options, uint64_t cycles, Diag *diag) {
  RunOptions trial = *options;
  trial.trial = &(const RepairTrial){repair, finding};
  trial.observer = NULL;
  trial.keep_buffers = false;
  trial.limit_cycles = MIN(trial.limit_cycles, cycles + 1);
  g_autoptr(RunResult) run = run_scenario(scenario, machine, &trial, diag);
  if (run && stop_is_final(run->stop))
    return TRIAL_STOPPED;
  if (!run || run->trial_misplaced)
    return TRIAL_MISPLACED;
  for (guint i = 0; i < run->findings->len; i++)
    if (finding_comes_again(finding, g_ptr_array_index(run->findings, i)))
      return TRIAL_STANDS;
  return TRIAL_GONE;
}

/* The finding of a run that shows what an older value leads to; NULL: to nothing. The caller owns it. */
static Finding *try_older(const Finding *finding, const Scenario *scenario, const Machine *machine,
                          const RunOptions *options, uint64_t cycles, Diag *diag) {
  RunOptions trial = *options;
  trial.trial = &(const RepairTrial){finding->doubt, finding};
  trial.observer = NULL;
  trial.keep_buffers = false;
  trial.limit_cycles = MIN(trial.limit_cycles, cycles + 1);
  g_autoptr(RunResult) run = run_scenario(scenario, machine, &trial, diag);
  for (guint i = 0; run && !stop_is_final(run->stop) && i < run->findings->len; i++)
    if (((const Finding *)g_ptr_array_index(run->findings, i))->id == finding->id)
      return finding_copy(g_ptr_array_index(run->findings, i));
  return NULL;
}

/* It stands if the run shows that something races then, and says what. */
static bool doubt_older(Finding *finding, const Scenario *scenario, const Machine *machine, const RunOptions *options,
                        uint64_t cycles, Diag *diag) {
  Finding *shown = try_older(finding, scenario, machine, options, cycles, diag);
  if (!shown)
    return true;
  const guint places = 2; /* which both have */
  for (guint i = 0; i < places && shown->evidence->len >= 2 * places; i++)
    finding->meets[i] = ((const Evidence *)g_ptr_array_index(shown->evidence, places + i))->line;
  for (gint at = (gint)places; shown->evidence->len > places; at++)
    g_ptr_array_insert(finding->evidence, at, g_ptr_array_steal_index(shown->evidence, places));
  finding_free(shown);
  return false;
}

bool repairs_doubt(Finding *finding, const Scenario *scenario, const Machine *machine, const RunOptions *options,
                   uint64_t cycles, Diag *diag) {
  if (finding->doubt && finding->doubt->edit[0].kind == EDIT_OLDER)
    return doubt_older(finding, scenario, machine, options, cycles, diag);
  return finding->doubt && try_with(finding, finding->doubt, scenario, machine, options, cycles, diag) >= TRIAL_GONE;
}

static void word_as_hint(Finding *finding, const char *why) {
  char *hint = g_strdup_printf("hint, %s: %s", why, finding->repair);
  g_free(finding->repair);
  finding->repair = hint;
}

bool repairs_try(Finding *finding, const Scenario *scenario, const Machine *machine, const RunOptions *options,
                 uint64_t cycles, Diag *diag) {
  bool orders = finding->id == FINDING_DATA_RACE || finding->id == FINDING_UNORDERED_ACCESS ||
                finding->id == FINDING_LOST_UPDATE;
  if (!finding->repairs) {
    if (orders && finding->repair)
      word_as_hint(finding, "not tried in the model");
    return false;
  }
  bool tried = false;
  for (guint i = 0; i < finding->repairs->len; i++) {
    const Repair *repair = g_ptr_array_index(finding->repairs, i);
    TrialEnd end = try_with(finding, repair, scenario, machine, options, cycles, diag);
    if (end == TRIAL_STOPPED) {
      word_as_hint(finding, "not tried in the model");
      return false;
    }
    tried |= end == TRIAL_STANDS;
    if (end == TRIAL_STANDS || end == TRIAL_MISPLACED)
      continue;
    g_free(finding->repair);
    finding->repair = g_strdup(repair->text);
    return true;
  }
  if (!tried) {
    word_as_hint(finding, "not tried in the model");
    return false;
  }
  if (finding->otherwise) {
    g_free(finding->repair);
    finding->repair = g_strdup(finding->otherwise);
    word_as_hint(finding, "not tried in the model");
    return false;
  }
  word_as_hint(finding, "which alone doesn't help in the model");
  return false;
}

bool repairs_try_atomics(Finding *finding, const Scenario *scenario, const Machine *machine,
                         const RunOptions *options, uint64_t cycles, Diag *diag) {
  enum { CYCLES_FACTOR = 4, CYCLES_MIN = 1000000 };
  if (!finding->atomics)
    return false;
  RunOptions trial = *options;
  trial.atomics = finding->atomics;
  trial.observer = NULL;
  trial.heartbeat = NULL;
  trial.details = trial.graph = trial.keep_buffers = false;
  trial.limit_cycles = MIN(trial.limit_cycles, cycles * CYCLES_FACTOR + CYCLES_MIN);
  g_autoptr(RunResult) run = run_scenario(scenario, machine, &trial, diag);
  bool gone = run && run->verdict == VERDICT_COMPLETED && !run->wrong_buffers;
  for (guint i = 0; gone && i < run->findings->len; i++)
    gone = !finding_same_place(finding, g_ptr_array_index(run->findings, i));
  return gone;
}
