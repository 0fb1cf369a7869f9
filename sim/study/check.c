#include "sim/study/check.h"

#include <string.h>

#include "base/quote.h"
#include "sim/study/repairs.h"
#include "sim/study/results.h"

CheckOptions check_options_default(void) { return (CheckOptions){.run = run_options_default(), .seeds = 4}; }

/* A schedule by another policy may be unfair to a correct program that spins (youngest first starves whoever must
 * release). It gets so many times the cycles of the machine's own policy, and then counts as starvation, not as a verdict. */
enum { STARVATION_FACTOR = 50, STARVATION_CYCLES_MIN = 1000000 };

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

/* The branch orders to try, the machine's own first: the number of them is returned. The smaller way first is one of the two
 * others in each single case, so it is tried only where it is the machine's own. */
static unsigned branch_orders(BranchOrder own, BranchOrder orders[ORDER_COUNT]) {
  unsigned count = 0;
  orders[count++] = own;
  for (BranchOrder order = ORDER_TAKEN_FIRST; order <= ORDER_FALLTHROUGH_FIRST; order++)
    if (order != own)
      orders[count++] = order;
  return count;
}

/* Seed after seed each policy with each branch order, the machine's own first, until there are as many as asked for. */
static GArray *count_schedules(Schedule own, unsigned count) {
  GArray *schedules = g_array_new(FALSE, FALSE, sizeof(Schedule));
  BranchOrder orders[ORDER_COUNT];
  unsigned norders = branch_orders(own.order, orders);
  for (Schedule next = own; schedules->len < count; next.seed++)
    for (unsigned order = 0; order < norders; order++)
      for (unsigned policy = 0; policy < POLICY_COUNT && schedules->len < count; policy++) {
        next.policy = (own.policy + policy) % POLICY_COUNT;
        next.order = orders[order];
        g_array_append_val(schedules, next);
      }
  return schedules;
}

/* The machine's own policy under several seeds, then the other branch order, then the other policies. */
static GArray *make_schedules(const Machine *machine, const CheckOptions *options) {
  Schedule own = {machine->sm.policy, machine->sm.simt_stack.branch_order, options->run.seed}, next = own;
  if (options->schedules)
    return count_schedules(own, options->schedules);
  GArray *schedules = g_array_new(FALSE, FALSE, sizeof(Schedule));
  for (unsigned i = 0; i < MAX(options->seeds, 1u); i++, next.seed++)
    g_array_append_val(schedules, next);
  BranchOrder orders[ORDER_COUNT];
  unsigned norders = branch_orders(own.order, orders);
  for (unsigned order = 1; order < norders; order++) {
    next = own;
    next.order = orders[order];
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
    for (guint k = 0; k < into->len && !known; k++)
      known = finding_same_place(g_ptr_array_index(into, k), finding);
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

static void record(RunResult *check, const Schedule *schedule, const RunResult *run, bool starved, guint kind) {
  ScheduleResult result = {.policy = g_strdup(policy_names[schedule->policy]),
                           .branch_order = g_strdup(order_names[schedule->order]),
                           .seed = schedule->seed,
                           .verdict = run->verdict,
                           .cycles = run->cycles,
                           .starved = starved,
                           .result = kind};
  g_array_append_val(check->schedules, result);
}

/* What makes a run follow this schedule. */
static char *schedule_arguments(const ScheduleResult *schedule) {
  return g_strdup_printf("-s sm.policy=%s -s sm.simt_stack.branch_order=%s --seed %" G_GUINT64_FORMAT,
                         schedule->policy, schedule->branch_order, schedule->seed);
}

/* A finding for verdicts that differ, with a schedule that reproduces each. */
static void report_dependence(RunResult *check) {
  bool seen[VERDICT_COUNT] = {false};
  unsigned kinds = 0;
  Finding *finding = finding_new(FINDING_SCHEDULE_DEPENDENT, g_strdup("the verdict depends on the schedule"));
  for (guint i = 0; i < check->schedules->len; i++) {
    const ScheduleResult *result = &g_array_index(check->schedules, ScheduleResult, i);
    if (seen[result->verdict] || result->starved)
      continue;
    seen[result->verdict] = true;
    kinds++;
    g_autofree char *arguments = schedule_arguments(result);
    finding_add_evidence(finding, 0, g_strdup_printf("%s: %s", verdict_name(result->verdict), arguments));
  }
  finding->file = g_strdup(check->file);
  finding->repair = g_strdup("order the threads by what they synchronise on, not by who is scheduled first");
  if (kinds > 1)
    g_ptr_array_insert(check->findings, 0, finding);
  else
    finding_free(finding);
}

enum { RESULTS_SHOWN = 4 };

/* A note for completed runs that left different contents in the buffers. */
static void report_results(RunResult *check, const Results *results) {
  check->results = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < results->kinds->len; i++)
    g_ptr_array_add(check->results, g_strdup(g_array_index(results->kinds, ResultKind, i).buffers));
  if (results->kinds->len < 2)
    return;
  const ResultKind *second = &g_array_index(results->kinds, ResultKind, 1);
  Finding *finding = finding_new(FINDING_RESULT_DEPENDENT,
                                 g_strdup_printf("the result depends on the schedule: %u different ones, the first "
                                                 "difference is that %s",
                                                 results->kinds->len, second->differs));
  finding->file = g_strdup(check->file);
  for (guint i = 0; i < MIN(results->kinds->len, (guint)RESULTS_SHOWN); i++) {
    const ResultKind *kind = &g_array_index(results->kinds, ResultKind, i);
    g_autofree char *arguments = schedule_arguments(&g_array_index(check->schedules, ScheduleResult, kind->first));
    finding_add_evidence(finding, 0,
                         g_strdup_printf("result %u, %u %s: %s%s%s", i + 1, kind->schedules,
                                         kind->schedules == 1 ? "schedule" : "schedules", arguments, i ? ": " : "",
                                         i ? kind->differs : ""));
    if (*kind->buffers)
      finding_add_evidence(finding, 0, g_strdup_printf("result %u: %s", i + 1, kind->buffers));
  }
  g_ptr_array_add(check->findings, finding);
}

/* The command that runs the worst schedule again, unless all are well. */
static char *again_text(const RunResult *worst, const GArray *schedules, const CheckOptions *options) {
  if (worst->verdict == VERDICT_COMPLETED || (worst->verdict == VERDICT_UNDECIDED && stop_is_final(worst->stop)))
    return NULL;
  for (guint i = 0; i < schedules->len; i++) {
    const ScheduleResult *schedule = &g_array_index(schedules, ScheduleResult, i);
    if (schedule->starved || schedule->verdict != worst->verdict)
      continue;
    g_autofree char *arguments = schedule_arguments(schedule);
    g_autofree char *file = quote_word(worst->file);
    return g_strdup_printf("lockstep run %s -m %s%s %s%s", file, worst->machine, options->given ? options->given : "",
                           arguments, options->flags ? options->flags : "");
  }
  return NULL;
}

/* Under check each verdict of the expected list must occur. */
static void require_all_verdicts(RunResult *check, const Expectation *expect) {
  if (stop_is_final(check->stop))
    return; /* the schedules that are left out might */
  for (guint i = 0; expect && expect->verdicts && i < expect->verdicts->len; i++) {
    Verdict wanted = g_array_index(expect->verdicts, Verdict, i);
    bool occurred = false;
    for (guint k = 0; k < check->schedules->len && !occurred; k++)
      occurred = g_array_index(check->schedules, ScheduleResult, k).verdict == wanted;
    if (!occurred && expect->verdicts->len > 1)
      g_ptr_array_add(check->failures,
                      g_strdup_printf("no schedule gave the expected verdict %s", verdict_name(wanted)));
  }
}

static void report_starvation(RunResult *check, const Schedule *schedule, uint64_t cycles) {
  g_autofree char *where = schedule_text(schedule);
  char *message =
      cycles ? g_strdup_printf("not finished after %" G_GUINT64_FORMAT " cycles under %s: threads that spin keep the "
                               "one they wait for from running; under the machine's own policy it ends",
                               cycles, where)
             : g_strdup_printf("under %s the threads go in circles for a while; under other seeds they don't", where);
  Finding *finding = finding_new(FINDING_TIMING_STARVATION, message);
  finding->file = g_strdup(check->file);
  g_ptr_array_add(check->findings, finding);
}

/* True if the run was cut off because its policy starves a program that the machine's own policy completes. */
static bool is_starved(const RunResult *run, const Schedule *schedule, const Schedule *own, const RunResult *first) {
  return run->verdict == VERDICT_UNDECIDED && !stop_is_final(run->stop) && schedule->policy != own->policy &&
         first->verdict == VERDICT_COMPLETED;
}

/* Tries the repairs of findings that no earlier schedule had, in the schedule that has them. */
static void try_repairs(const Scenario *scenario, const Machine *machine, const RunOptions *options,
                        const RunResult *run, const GPtrArray *known, Diag *diag) {
  for (guint i = 0; i < run->findings->len; i++) {
    Finding *finding = g_ptr_array_index(run->findings, i);
    bool is_new = true;
    for (guint k = 0; k < known->len && is_new; k++)
      is_new = !finding_same_place(g_ptr_array_index(known, k), finding);
    if (is_new && finding->repairs)
      repairs_try(finding, scenario, machine, options, run->cycles, diag);
  }
}

static RunResult *run_one(const Scenario *scenario, const Machine *machine, const RunOptions *options,
                          const Schedule *schedule, const RunResult *first, const GPtrArray *known, Diag *diag) {
  Machine *variant = machine_copy(machine);
  variant->sm.policy = schedule->policy;
  variant->sm.simt_stack.branch_order = schedule->order;
  RunOptions run = *options;
  if (first && first->verdict == VERDICT_COMPLETED && schedule->policy != machine->sm.policy)
    run.limit_cycles = MIN(run.limit_cycles, first->cycles * STARVATION_FACTOR + STARVATION_CYCLES_MIN);
  run.seed = schedule->seed;
  run.races = run.keep_buffers = true;
  RunResult *result = run_scenario(scenario, variant, &run, diag);
  if (result)
    try_repairs(scenario, variant, &run, result, known, diag);
  machine_free(variant);
  return result;
}

/* What check gathers while it goes through the schedules. */
typedef struct Gathering {
  RunResult united; /* findings, failures, schedules */
  RunResult *worst;
  RunResult first; /* verdict and cycles of the first schedule */
  Results results;
  const CheckOptions *options;
} Gathering;

static void gather(Gathering *all, const GArray *schedules, guint index, RunResult *run) {
  const Schedule *schedule = &g_array_index(schedules, Schedule, index),
                 *own = &g_array_index(schedules, Schedule, 0);
  if (index == 0)
    all->first = *run;
  bool starved = is_starved(run, schedule, own, &all->first);
  record(&all->united, schedule, run, starved, results_add(&all->results, run, index));
  if (starved) {
    report_starvation(&all->united, schedule, run->cycles);
    run_result_free(run);
    return;
  }
  if (run->starved)
    report_starvation(&all->united, schedule, 0);
  unite_failures(all->united.failures, run, schedule);
  unite_findings(all->united.findings, run->findings);
  if (!all->worst || verdict_rank(run->verdict) > verdict_rank(all->worst->verdict)) {
    RunResult *better = all->worst;
    all->worst = run;
    run = better;
  }
  run_result_free(run);
}

/* The worst run with what all of them gave; its own findings stand first, since they explain the verdict. */
static RunResult *unite(Gathering *all, const Expectation *expect) {
  RunResult *result = all->worst;
  GPtrArray *findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
  unite_findings(findings, result->findings);
  unite_findings(findings, all->united.findings);
  g_ptr_array_unref(all->united.findings);
  all->united.findings = findings;
  if (!expect || !expect->verdicts || expect->verdicts->len < 2)
    report_dependence(&all->united);
  report_results(&all->united, &all->results);
  require_all_verdicts(&all->united, expect);
  g_ptr_array_unref(result->findings);
  g_ptr_array_unref(result->failures);
  result->findings = all->united.findings;
  result->failures = all->united.failures;
  result->schedules = all->united.schedules;
  result->results = all->united.results;
  result->stop = all->united.stop ? all->united.stop : result->stop;
  result->schedules_wanted = all->united.schedules_wanted;
  result->again = again_text(result, result->schedules, all->options);
  return result;
}

RunResult *check_scenario(const Scenario *scenario, const Machine *machine, const CheckOptions *options, Diag *diag) {
  GArray *schedules = make_schedules(machine, options);
  Gathering all = {.united = {.findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free),
                              .failures = g_ptr_array_new_with_free_func(g_free),
                              .schedules = g_array_new(FALSE, FALSE, sizeof(ScheduleResult)),
                              .file = scenario->file},
                   .options = options};
  bool fine = true;
  results_init(&all.results);
  all.united.schedules_wanted = schedules->len;
  for (guint i = 0; i < schedules->len && fine && !all.united.stop; i++) {
    RunResult *run = run_one(scenario, machine, &options->run, &g_array_index(schedules, Schedule, i),
                             i > 0 ? &all.first : NULL, all.united.findings, diag);
    fine = run != NULL;
    StopReason cut = fine && stop_is_final(run->stop) ? run->stop : STOP_NONE;
    if (fine)
      gather(&all, schedules, i, run);
    all.united.stop = cut || i + 1 == schedules->len ? cut : stop_asked(options->run.stop);
  }
  g_array_free(schedules, TRUE);
  if (fine) {
    RunResult *result = unite(&all, scenario_expectation(scenario, machine->name));
    results_clear(&all.results);
    return result;
  }
  results_clear(&all.results);
  RunResult *partial = all.worst ? all.worst : g_new0(RunResult, 1); /* frees what was gathered */
  if (!all.worst) {
    partial->regions = g_array_new(FALSE, FALSE, sizeof(RegionResult));
    partial->findings = all.united.findings;
    partial->failures = all.united.failures;
  } else {
    g_ptr_array_unref(all.united.findings);
    g_ptr_array_unref(all.united.failures);
  }
  partial->schedules = all.united.schedules;
  run_result_free(partial);
  return NULL;
}
