#include "sim/study/check.h"

#include <string.h>

CheckOptions check_options_default(void) { return (CheckOptions){.run = run_options_default(), .seeds = 4}; }

#define X(enumerator, spelling) spelling,
static const char *const policy_names[] = {SCHEDULER_POLICIES(X)};
static const char *const order_names[] = {BRANCH_ORDERS(X)};
#undef X

/* One schedule to try. */
typedef struct Schedule {
  SchedulerPolicy policy;
  BranchOrder order;
  uint64_t seed;
} Schedule;

/* The machine's own policy under several seeds, then the other branch order, then the other policies. */
static GArray *make_schedules(const Machine *machine, const CheckOptions *options) {
  GArray *schedules = g_array_new(FALSE, FALSE, sizeof(Schedule));
  Schedule own = {machine->sm.policy, machine->sm.simt_stack.branch_order, options->run.seed}, next = own;
  for (unsigned i = 0; i < MAX(options->seeds, 1u); i++, next.seed++)
    g_array_append_val(schedules, next);
  for (unsigned order = 0; order < ORDER_COUNT; order++) {
    next = own;
    next.order = order;
    if (next.order != own.order)
      g_array_append_val(schedules, next);
  }
  for (unsigned policy = 0; policy < POLICY_COUNT; policy++) {
    next = own;
    next.policy = policy;
    if (next.policy != own.policy)
      g_array_append_val(schedules, next);
  }
  return schedules;
}

static char *schedule_text(const Schedule *schedule) {
  return g_strdup_printf("policy %s, branch order %s, seed %" G_GUINT64_FORMAT, policy_names[schedule->policy],
                         order_names[schedule->order], schedule->seed);
}

/* Findings of `from` that `into` doesn't have (same kind at the same place). */
static void unite_findings(GPtrArray *into, const GPtrArray *from) {
  for (guint i = 0; i < from->len; i++) {
    const Finding *finding = g_ptr_array_index(from, i);
    bool known = false;
    for (guint k = 0; k < into->len && !known; k++) {
      const Finding *other = g_ptr_array_index(into, k);
      known = other->id == finding->id && other->line == finding->line && g_strcmp0(other->file, finding->file) == 0;
    }
    if (!known)
      g_ptr_array_add(into, finding_copy(finding));
  }
}

static void unite_failures(GPtrArray *into, const RunResult *run, const Schedule *schedule) {
  for (guint i = 0; i < run->failures->len; i++) {
    const char *failure = g_ptr_array_index(run->failures, i);
    bool known = false;
    for (guint k = 0; k < into->len && !known; k++)
      known = g_str_has_prefix(g_ptr_array_index(into, k), failure);
    if (known)
      continue;
    g_autofree char *where = schedule_text(schedule);
    g_ptr_array_add(into, g_strdup_printf("%s (%s)", failure, where));
  }
}

static void record(RunResult *check, const Schedule *schedule, const RunResult *run) {
  ScheduleResult result = {.policy = g_strdup(policy_names[schedule->policy]),
                           .branch_order = g_strdup(order_names[schedule->order]),
                           .seed = schedule->seed, .verdict = run->verdict, .cycles = run->cycles};
  g_array_append_val(check->schedules, result);
}

/* A finding for verdicts that differ, with a schedule that reproduces each. */
static void report_dependence(RunResult *check) {
  bool seen[VERDICT_COUNT] = {false};
  unsigned kinds = 0;
  Finding *finding = finding_new(FINDING_SCHEDULE_DEPENDENT, g_strdup("the verdict depends on the schedule"));
  for (guint i = 0; i < check->schedules->len; i++) {
    const ScheduleResult *result = &g_array_index(check->schedules, ScheduleResult, i);
    if (seen[result->verdict])
      continue;
    seen[result->verdict] = true;
    kinds++;
    finding_add_evidence(finding, 0,
                         g_strdup_printf("%s: -s sm.policy=%s -s sm.simt_stack.branch_order=%s --seed %" G_GUINT64_FORMAT,
                                         verdict_name(result->verdict), result->policy, result->branch_order, result->seed));
  }
  finding->file = g_strdup(check->file);
  finding->repair = g_strdup("order the threads by what they synchronise on, not by who is scheduled first");
  if (kinds > 1)
    g_ptr_array_insert(check->findings, 0, finding);
  else
    finding_free(finding);
}

/* Under check each verdict of the expected list must occur. */
static void require_all_verdicts(RunResult *check, const Expectation *expect) {
  for (guint i = 0; expect && expect->verdicts && i < expect->verdicts->len; i++) {
    Verdict wanted = g_array_index(expect->verdicts, Verdict, i);
    bool occurred = false;
    for (guint k = 0; k < check->schedules->len && !occurred; k++)
      occurred = g_array_index(check->schedules, ScheduleResult, k).verdict == wanted;
    if (!occurred && expect->verdicts->len > 1)
      g_ptr_array_add(check->failures, g_strdup_printf("no schedule gave the expected verdict %s", verdict_name(wanted)));
  }
}

static void report_starvation(RunResult *check, uint64_t seed) {
  Finding *finding = finding_new(FINDING_TIMING_STARVATION,
                                 g_strdup_printf("with seed %" G_GUINT64_FORMAT " threads starve each other for a while; "
                                                 "with another phase they don't", seed));
  finding->file = g_strdup(check->file);
  g_ptr_array_add(check->findings, finding);
}

static RunResult *run_one(const Scenario *scenario, const Machine *machine, const RunOptions *options,
                          const Schedule *schedule, Diag *diag) {
  Machine *variant = machine_copy(machine);
  variant->sm.policy = schedule->policy;
  variant->sm.simt_stack.branch_order = schedule->order;
  RunOptions run = *options;
  run.seed = schedule->seed;
  run.races = true;
  RunResult *result = run_scenario(scenario, variant, &run, diag);
  machine_free(variant);
  return result;
}

RunResult *check_scenario(const Scenario *scenario, const Machine *machine, const CheckOptions *options, Diag *diag) {
  GArray *schedules = make_schedules(machine, options);
  GPtrArray *findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
  GPtrArray *failures = g_ptr_array_new_with_free_func(g_free);
  GArray *results = g_array_new(FALSE, FALSE, sizeof(ScheduleResult));
  RunResult *worst = NULL;
  RunResult united = {.findings = findings, .failures = failures, .schedules = results, .file = scenario->file};
  bool fine = true;
  for (guint i = 0; i < schedules->len && fine; i++) {
    const Schedule *schedule = &g_array_index(schedules, Schedule, i);
    RunResult *run = run_one(scenario, machine, &options->run, schedule, diag);
    fine = run != NULL;
    if (!fine)
      break;
    record(&united, schedule, run);
    unite_failures(failures, run, schedule);
    if (run->starved)
      report_starvation(&united, schedule->seed);
    if (!worst || verdict_rank(run->verdict) > verdict_rank(worst->verdict)) {
      RunResult *swap = worst;
      worst = run;
      run = swap;
    }
    if (run) {
      unite_findings(findings, run->findings);
      run_result_free(run);
    }
  }
  g_array_free(schedules, TRUE);
  if (!fine) {
    run_result_free(worst);
    worst = g_new0(RunResult, 1);
    worst->regions = g_array_new(FALSE, FALSE, sizeof(RegionResult));
  } else {
    /* The worst run's own findings stand first: they explain the verdict. */
    GPtrArray *others = findings;
    findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
    unite_findings(findings, worst->findings);
    unite_findings(findings, others);
    g_ptr_array_unref(others);
    united.findings = findings;
    const Expectation *expect = scenario_expectation(scenario, machine->name);
    if (!expect || !expect->verdicts || expect->verdicts->len < 2)
      report_dependence(&united);
    require_all_verdicts(&united, expect);
    g_ptr_array_unref(worst->findings);
    g_ptr_array_unref(worst->failures);
  }
  worst->findings = findings;
  worst->failures = failures;
  worst->schedules = results;
  if (fine)
    return worst;
  run_result_free(worst);
  return NULL;
}
