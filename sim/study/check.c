#include "sim/study/check.h"

#include <string.h>
#include <sys/resource.h>

#include "sim/study/consequences.h"
#include "sim/study/fences.h"
#include "sim/study/forms.h"
#include "sim/study/mends.h"
#include "sim/study/older.h"
#include "sim/study/reliance.h"
#include "sim/study/results.h"
#include "sim/study/schedule.h"
#include "sim/study/schedule_kinds.h"

CheckOptions check_options_default(void) { return (CheckOptions){.run = run_options_default(), .seeds = 4}; }

/* A schedule by another policy may be unfair to a correct program that spins (youngest first starves whoever must
 * release). It gets so many times the cycles of the machine's own policy, and then counts as starvation, not as a
 * verdict. */
enum { STARVATION_FACTOR = 50, STARVATION_CYCLES_MIN = 1000000 };
/* With late stores each fence takes many times as long, and where warps are held up others wait for them; a run that
 * isn't over by then is left at that. */
enum { LATE_FACTOR = 20 };
/* Where the machine's own schedule comes to its limit of cycles without a verdict, each of the others gets such a
 * part of them: most would go on as long, and take minutes each. */
enum { UNDECIDED_PART = 16 };
/* A hang that comes of being held up is there early, and costs little until it is seen. */
enum { HELD_CYCLES_MIN = 20000000 };

/* Neither happens on a GPU that does nothing else. */
static bool is_disturbed(const Schedule *schedule) { return schedule->late_stores || schedule->held_up; }

static bool is_known(const GPtrArray *known, const Finding *finding) { return finding_find(known, finding) != NULL; }

/* Findings of `from` that `into` doesn't have (same kind at the same place). */
static void unite_findings(GPtrArray *into, const GPtrArray *from) {
  for (guint i = 0; i < from->len; i++) {
    const Finding *finding = g_ptr_array_index(from, i);
    if (!is_known(into, finding))
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
  ScheduleResult result = schedule_result(schedule);
  result.verdict = run->verdict;
  result.cycles = run->cycles;
  result.starved = starved;
  result.result = kind;
  g_array_append_val(check->schedules, result);
}

static bool is_hang(Verdict verdict) {
  return verdict != VERDICT_COMPLETED && verdict != VERDICT_UNDECIDED && verdict != VERDICT_FAULT;
}

/* A finding for verdicts that differ, with a schedule that reproduces each. Who hangs whatever the schedule may do so
 * in several ways. */
static void report_dependence(RunResult *check) {
  bool seen[VERDICT_COUNT] = {false};
  unsigned kinds = 0, hangs = 0;
  Finding *finding = finding_new(FINDING_SCHEDULE_DEPENDENT, g_strdup("the verdict depends on the schedule"));
  for (guint i = 0; i < check->schedules->len; i++) {
    const ScheduleResult *result = &g_array_index(check->schedules, ScheduleResult, i);
    /* A run that a limit of time or a signal cut, and one in another order of dispatch, prove nothing without a
     * verdict. */
    bool open = result->verdict == VERDICT_UNDECIDED && (check->stop || result->reordered);
    if (seen[result->verdict] || result->starved || result->relies || open)
      continue;
    seen[result->verdict] = true;
    kinds++;
    hangs += is_hang(result->verdict);
    g_autofree char *arguments = schedule_arguments(result);
    finding_add_evidence(finding, 0, g_strdup_printf("%s: %s", verdict_name(result->verdict), arguments));
  }
  finding->file = g_strdup(check->file);
  finding->repair = g_strdup("order the threads by what they synchronise on, not by who is scheduled first");
  if (kinds > 1 && hangs < kinds)
    g_ptr_array_insert(check->findings, 0, finding);
  else
    finding_free(finding);
}

enum { RESULTS_SHOWN = 4 };

/* The machine's own schedules all leave the same, whatever the policy. */
static bool only_disturbed(const RunResult *check, const Results *results) {
  for (guint i = 1; i < results->kinds->len; i++) {
    guint first = g_array_index(results->kinds, ResultKind, i).first;
    const ScheduleResult *schedule = &g_array_index(check->schedules, ScheduleResult, first);
    if (!schedule->late_stores && !schedule->held_up)
      return false;
  }
  return true;
}

/* A note for completed runs that left different contents in the buffers. */
static void report_results(RunResult *check, const Results *results, const Expectation *expect) {
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
  if (only_disturbed(check, results) && (!expect || !expect->buffers->len))
    finding_add_evidence(finding, 0,
                         g_strdup("only runs whose stores are late, or in which a warp is slow, end otherwise: if "
                                  "`expect: buffers:` of a scenario says what is right, check says what is missing"));
  g_ptr_array_add(check->findings, finding);
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
      cycles
          ? g_strdup_printf("not finished after %" G_GUINT64_FORMAT
                            " cycles under %s%s; under the machine's own %s it ends",
                            cycles, where,
                            schedule->reordered ? "" : ": threads that spin keep the one they wait for from running",
                            schedule->reordered ? "order of dispatch" : "policy")
          : g_strdup_printf("under %s the threads go in circles for a while; under other seeds they don't", where);
  Finding *finding = finding_new(FINDING_TIMING_STARVATION, message);
  finding->file = g_strdup(check->file);
  g_ptr_array_add(check->findings, finding);
}

/* True if the run was cut off because its policy starves a program that the machine's own policy completes. */
static bool is_starved(const RunResult *run, const Schedule *schedule, const Schedule *own, const RunResult *first) {
  bool other = schedule->policy != own->policy || schedule->reordered || is_disturbed(schedule);
  return run->verdict == VERDICT_UNDECIDED && !stop_is_final(run->stop) && other &&
         first->verdict == VERDICT_COMPLETED;
}

static RunResult *run_one(const Scenario *scenario, const Machine *machine, const RunOptions *options,
                          const Schedule *schedule, const RunResult *first, Diag *diag) {
  Machine *variant = schedule_machine(schedule, machine);
  RunOptions run = mends_options(options, schedule);
  bool other = schedule->policy != machine->sm.policy || schedule->reordered || is_disturbed(schedule);
  uint64_t factor = is_disturbed(schedule) ? LATE_FACTOR : STARVATION_FACTOR;
  if (first && first->verdict == VERDICT_COMPLETED && other)
    run.patience_cycles = first->cycles * factor + (schedule->held_up ? HELD_CYCLES_MIN : STARVATION_CYCLES_MIN);
  else if (first && first->verdict == VERDICT_UNDECIDED && first->stop == STOP_CYCLES)
    run.patience_cycles = first->cycles / UNDECIDED_PART;
  RunResult *result = forms_run(scenario, variant, &run, diag);
  machine_free(variant);
  return result;
}

/* What check gathers while it goes through the schedules. */
typedef struct Gathering {
  RunResult united; /* findings, failures, schedules */
  RunResult *worst;
  RunResult first;       /* verdict and cycles of the first schedule */
  uint64_t instructions; /* of warps, of the first run */
  bool has_wrong_buffers; /* as the failures say */
  Results results;
  Reliance *reliance;
  const CheckOptions *options;
  const Scenario *scenario;
  const Machine *machine;
} Gathering;

/* A run whose verdict counts. */
static void count(Gathering *all, const Schedule *schedule, RunResult *run) {
  if (run->starved)
    report_starvation(&all->united, schedule, 0);
  all->has_wrong_buffers |= run->wrong_buffers > 0;
  unite_failures(all->united.failures, run, schedule);
  unite_findings(all->united.findings, run->findings);
  if (!all->worst || verdict_rank(run->verdict) > verdict_rank(all->worst->verdict)) {
    RunResult *better = all->worst;
    all->worst = run;
    run = better;
  }
  run_result_free(run);
}

/* A deadlock of blocks of one launch that all fit: no order of dispatch is to blame, since any block may be slow. */
static bool hangs_in_any_order(const Gathering *all, const RunResult *run) {
  if (run->verdict == VERDICT_COMPLETED || run->verdict == VERDICT_FAULT || run->verdict == VERDICT_UNDECIDED ||
      all->scenario->launches->len != 1 || !run->occupancy || run->occupancy->len != 1)
    return false;
  const uint32_t *grid = ((const ScenarioLaunch *)g_ptr_array_index(all->scenario->launches, 0))->grid;
  const LaunchOccupancy *launch = &g_array_index(run->occupancy, LaunchOccupancy, 0);
  return (double)grid[0] * grid[1] * grid[2] <= (double)launch->occupancy.blocks * all->machine->gpu.sms;
}

static void gather(Gathering *all, const GArray *schedules, guint index, RunResult *run) {
  const Schedule *schedule = &g_array_index(schedules, Schedule, index),
                 *own = &g_array_index(schedules, Schedule, 0);
  if (index == 0)
    all->first = *run;
  bool starved = is_starved(run, schedule, own, &all->first);
  record(&all->united, schedule, run, starved, results_add(&all->results, run, index, !schedule->late_stores));
  if (starved) {
    if (!is_disturbed(schedule))
      report_starvation(&all->united, schedule, run->cycles);
    run_result_free(run);
    return;
  }
  bool went_wrong = run->verdict != VERDICT_COMPLETED || run->wrong_buffers;
  if (!schedule->reordered || (all->first.verdict == VERDICT_COMPLETED && hangs_in_any_order(all, run)))
    count(all, schedule, run);
  else if (went_wrong && run->verdict != VERDICT_UNDECIDED)
    reliance_add(all->reliance, index, run);
  else if (!went_wrong && all->first.verdict == VERDICT_COMPLETED)
    count(all, schedule, run);
  else
    run_result_free(run); /* recorded: the verdict is that of the machine's own order, and a limit proves nothing */
}

/* A schedule under which all is as under the first. */
static void gather_again(Gathering *all, const GArray *schedules, guint index) {
  const Schedule *schedule = &g_array_index(schedules, Schedule, index);
  guint kind = g_array_index(all->united.schedules, ScheduleResult, 0).result;
  results_add_again(&all->results, kind);
  record(&all->united, schedule, &all->first, false, kind);
  if (all->first.starved)
    report_starvation(&all->united, schedule, 0);
}

/* The runs that went wrong under another order of dispatch are a finding if all went well under the machine's own:
 * the program relies on the order. Else they are recorded and don't count. */
static void settle_reliance(Gathering *all, const Expectation *expect) {
  if (all->worst->verdict != VERDICT_COMPLETED || all->united.failures->len > 0)
    return;
  Finding *finding = reliance_finding(all->reliance, &all->united);
  if (!finding)
    return;
  if (expect && !expectation_allows(expect, finding->id))
    g_ptr_array_add(all->united.failures, g_strdup_printf("the finding %s isn't expected: %s",
                                                          finding_name(finding->id), finding->message));
  g_ptr_array_add(all->united.findings, finding);
}

/* The findings of that kind that aren't expected, once some are none any more: the failures tell of what is left. */
static void expect_left(Gathering *all, const Expectation *expect, FindingId id) {
  g_autofree char *kind = g_strdup_printf("the finding %s isn't expected: ", finding_name(id));
  const Finding *left = NULL;
  for (guint i = all->united.failures->len; i-- > 0;)
    if (g_str_has_prefix(g_ptr_array_index(all->united.failures, i), kind))
      g_ptr_array_remove_index(all->united.failures, i);
  for (guint i = 0; i < all->united.findings->len && !left; i++)
    if (((const Finding *)g_ptr_array_index(all->united.findings, i))->id == id)
      left = g_ptr_array_index(all->united.findings, i);
  if (left && expect && !expectation_allows(expect, left->id))
    g_ptr_array_insert(all->united.failures, 0, g_strconcat(kind, left->message, NULL));
}

static void drop_from_worst(Gathering *all, const Finding *finding) {
  for (guint k = all->worst->findings->len; k-- > 0;)
    if (finding_same_place(g_ptr_array_index(all->worst->findings, k), finding))
      g_ptr_array_remove_index(all->worst->findings, k);
}

/* Findings of loads that may read older values, and do no harm if they do, become notes. */
static void settle_older(Gathering *all, const GArray *schedules, const Expectation *expect, Diag *diag) {
  OlderTrials trials = {.scenario = all->scenario,
                        .machine = all->machine,
                        .options = &all->options->run,
                        .schedules = schedules,
                        .results = &all->results,
                        .known = all->united.findings,
                        .diag = diag,
                        .instructions = all->instructions,
                        .stopped = all->united.stop != STOP_NONE};
  bool any = false;
  for (guint i = 0; i < all->united.findings->len; i++) {
    Finding *finding = g_ptr_array_index(all->united.findings, i);
    g_autoptr(Finding) before = finding_copy(finding);
    if (!older_try(&trials, finding))
      continue;
    any = true;
    drop_from_worst(all, before);
  }
  if (any)
    expect_left(all, expect, FINDING_UNORDERED_ACCESS);
}

/* Findings that only show what others lead to go. */
static void settle_consequences(Gathering *all, const Expectation *expect) {
  bool any = false;
  for (guint i = all->united.findings->len; i-- > 0;) {
    const Finding *finding = g_ptr_array_index(all->united.findings, i);
    bool is_told = finding->id == FINDING_UNEXPECTED_RESULT && all->has_wrong_buffers;
    if (!is_told && !consequences_has(all->united.findings, finding) &&
        !consequences_same_fences(all->united.findings, i))
      continue;
    any = true;
    drop_from_worst(all, finding);
    g_ptr_array_remove_index(all->united.findings, i);
  }
  if (any)
    expect_left(all, expect, FINDING_LOST_UPDATE);
  expect_left(all, expect, FINDING_UNEXPECTED_RESULT); /* each run may have another one */
}

/* The findings of the worst run, as the first schedule that had them gives them: repairs were tried there. Errors
 * stay its own, since they explain how it ended. */
static GPtrArray *findings_of_worst(const Gathering *all) {
  GPtrArray *findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
  for (guint i = 0; i < all->worst->findings->len; i++) {
    const Finding *own = g_ptr_array_index(all->worst->findings, i);
    const Finding *known =
        finding_severity(own->id) == SEVERITY_ERROR ? own : finding_find(all->united.findings, own);
    if (!is_known(findings, own))
      g_ptr_array_add(findings, finding_copy(known ? known : own));
  }
  return findings;
}

/* The worst run with what all of them gave; its own findings stand first, since they explain the verdict. */
/* What the scenario lists may occur, so it is no failure that it doesn't; who wrote it wants to know. */
static char *absent_findings(const GPtrArray *findings, const Expectation *expect) {
  g_autoptr(GString) names = g_string_new(NULL);
  for (guint i = 0; expect && i < expect->findings->len; i++) {
    FindingId id = g_array_index(expect->findings, FindingId, i);
    bool found = false;
    for (guint k = 0; k < findings->len; k++)
      found |= ((const Finding *)g_ptr_array_index(findings, k))->id == id;
    if (!found)
      g_string_append_printf(names, "%s%s", names->len ? ", " : "", finding_name(id));
  }
  return names->len ? g_string_free(g_steal_pointer(&names), FALSE) : NULL;
}

static RunResult *unite(Gathering *all, const Expectation *expect) {
  RunResult *result = all->worst;
  GPtrArray *findings = findings_of_worst(all);
  unite_findings(findings, all->united.findings);
  g_ptr_array_unref(all->united.findings);
  all->united.findings = findings;
  if (!expect || !expect->verdicts || expect->verdicts->len < 2)
    report_dependence(&all->united);
  report_results(&all->united, &all->results, expect);
  require_all_verdicts(&all->united, expect);
  g_ptr_array_unref(result->findings);
  g_ptr_array_unref(result->failures);
  result->findings = all->united.findings;
  result->failures = all->united.failures;
  result->schedules = all->united.schedules;
  result->results = all->united.results;
  result->stop = all->united.stop ? all->united.stop : result->stop;
  result->schedules_wanted = all->united.schedules_wanted;
  result->again = again_worst(result, result->schedules, &all->options->given);
  result->unfinished = again_unfinished(result->schedules, result, &all->options->given);
  result->absent = absent_findings(result->findings, expect);
  return result;
}

/* Frees what was gathered. */
static void gathering_drop(Gathering *all) {
  RunResult *partial = all->worst ? all->worst : g_new0(RunResult, 1);
  if (!all->worst) {
    partial->regions = g_array_new(FALSE, FALSE, sizeof(RegionResult));
    partial->findings = all->united.findings;
    partial->failures = all->united.failures;
  } else {
    g_ptr_array_unref(all->united.findings);
    g_ptr_array_unref(all->united.failures);
  }
  partial->schedules = all->united.schedules;
  run_result_free(partial);
}

/* ---- running them ---- */

/* The runs of a check: each by itself, so that they can be made in any order and at the same time. */
typedef struct Attempts {
  const Scenario *scenario;
  const Machine *machine;
  const CheckOptions *options;
  GArray *schedules;
  const RunResult *first; /* Gathering.first */
  bool repeats;           /* another run like the first has nothing to add: its findings are known, and tried */
  unsigned jobs;          /* at a time, once the first has been made */
  PlaceLog *places;       /* of the first run */
  RunResult **run;        /* of each schedule, once it was made; NULL after an error */
  Diag **diag;
  FenceSearch *fences;
  GMutex lock; /* of CheckOptions.step */
} Attempts;

/* `doing`: what is done with the schedule, "" for its run. */
static void tell_step(Attempts *attempts, guint index, const char *doing) {
  if (!attempts->options->step)
    return;
  g_autofree char *schedule = schedule_text(&g_array_index(attempts->schedules, Schedule, index));
  g_autofree char *text = g_strconcat(schedule, doing, NULL);
  g_mutex_lock(&attempts->lock);
  attempts->options->step(attempts->options->step_user, index, attempts->schedules->len, text);
  g_mutex_unlock(&attempts->lock);
}

/* A run under schedule `index` would be the first again, instruction by instruction: nothing of it was up to what the
 * two differ in. */
static bool is_first_again(const Attempts *attempts, guint index) {
  const Schedule *own = &g_array_index(attempts->schedules, Schedule, 0),
                 *other = &g_array_index(attempts->schedules, Schedule, index);
  return attempts->repeats && other->seed == own->seed && !other->reordered && !is_disturbed(other) &&
         (other->policy == own->policy || !attempts->first->choices.warps) &&
         (other->order == own->order || !attempts->first->choices.ways);
}

static void tell_repair(gpointer user, guint index) { tell_step(user, index, ", trying a repair"); }

static void attempt(gpointer data, gpointer user) {
  Attempts *attempts = user;
  guint index = GPOINTER_TO_UINT(data) - 1;
  const Schedule *schedule = &g_array_index(attempts->schedules, Schedule, index);
  RunOptions options = attempts->options->run;
  if (attempts->jobs > 1)
    options.heartbeat = NULL; /* of several runs at once */
  if (index > 0 && stop_asked(options.stop))
    return;
  tell_step(attempts, index, "");
  if (index > 0 && is_first_again(attempts, index))
    return;
  attempts->diag[index] = diag_new();
  if (index == 0)
    options.observer = place_log_probe(attempts->places);
  attempts->run[index] = run_one(attempts->scenario, attempts->machine, &options, schedule,
                                 index > 0 ? attempts->first : NULL, attempts->diag[index]);
}

/* Without a wish, a check takes no more memory than so many bytes, unless one run does. */
enum { JOBS_BYTES = 250 * 1024 * 1024 };

/* How many runs there are at a time, once the first has been made: its peak is the process's so far. */
static unsigned jobs_that_fit(const CheckOptions *options) {
  struct rusage usage;
  if (options->jobs || getrusage(RUSAGE_SELF, &usage))
    return MAX(options->jobs, 1);
  guint64 fit = JOBS_BYTES / (1024 * (guint64)MAX(usage.ru_maxrss, 1));
  return (unsigned)CLAMP(fit, 1, g_get_num_processors());
}

/* All but the first, which has been made, on several threads. */
static void attempt_in_parallel(Attempts *attempts) {
  GThreadPool *pool = g_thread_pool_new(attempt, attempts, (gint)attempts->jobs, TRUE, NULL);
  for (guint i = 1; i < attempts->schedules->len; i++)
    g_thread_pool_push(pool, GUINT_TO_POINTER(i + 1), NULL);
  g_thread_pool_free(pool, FALSE, TRUE);
}

/* Of the first run, which had so many findings: none was dropped, which a run like it would try again, and none may
 * be mended by one. */
static bool repeats(const RunResult *first, guint findings, const Diag *diag) {
  bool all = first->findings->len == findings && diag_count(diag) == 0;
  for (guint i = 0; i < first->findings->len && all; i++) {
    const Finding *finding = g_ptr_array_index(first->findings, i);
    all = !mends_may(finding, finding);
  }
  return all;
}

static uint64_t instructions_of(const RunResult *run) {
  return counter_value(&run->counters, COUNTER_warp_instructions);
}

/* Makes the runs and gathers them in order, until something ends them (Gathering.united.stop); false after an error,
 * in `diag`. */
static bool attempt_all(Attempts *attempts, Gathering *all, Diag *diag) {
  guint count = attempts->schedules->len;
  uint64_t held = 0; /* instructions of such runs, most of which may be those of waiting threads */
  for (guint i = 0; i < count && !all->united.stop; i++) {
    if (!attempts->diag[i] && attempts->jobs == 1)
      attempt(GUINT_TO_POINTER(i + 1), attempts);
    if (i > 0 && is_first_again(attempts, i)) {
      gather_again(all, attempts->schedules, i);
      all->united.stop = i + 1 == count ? STOP_NONE : stop_asked(attempts->options->run.stop);
      continue;
    }
    diag_add_all(diag, attempts->diag[i]);
    RunResult *run = g_steal_pointer(&attempts->run[i]);
    if (!run)
      return false;
    StopReason cut = stop_is_final(run->stop) ? run->stop : STOP_NONE;
    if (i == 0 && !attempts->options->schedules) {
      FirstRun first = {instructions_of(run), run->cycles, attempts->places};
      schedules_fit(attempts->schedules, &first);
      all->united.schedules_wanted = count = attempts->schedules->len;
    }
    held += g_array_index(attempts->schedules, Schedule, i).held_up ? instructions_of(run) : 0;
    if (held > SCHEDULES_HELD_MOST && !attempts->options->schedules)
      all->united.schedules_wanted = count = i + 1;
    guint findings = run->findings->len;
    Mends mends = {.scenario = attempts->scenario,
                   .machine = attempts->machine,
                   .options = &attempts->options->run,
                   .schedules = attempts->schedules,
                   .fences = attempts->fences,
                   .step = tell_repair,
                   .user = attempts};
    mends_try(&mends, i, run, all->united.findings, diag);
    if (i == 0) {
      attempts->repeats = repeats(run, findings, attempts->diag[0]);
      all->instructions = instructions_of(run);
    }
    gather(all, attempts->schedules, i, run);
    all->united.stop = cut || i + 1 == count ? cut : stop_asked(attempts->options->run.stop);
    if (i == 0)
      attempts->jobs = jobs_that_fit(attempts->options);
    if (i == 0 && attempts->jobs > 1 && count > 1 && !all->united.stop)
      attempt_in_parallel(attempts);
  }
  return true;
}

static void attempts_clear(Attempts *attempts) {
  for (guint i = 0; i < attempts->schedules->len; i++) {
    g_clear_pointer(&attempts->run[i], run_result_free);
    g_clear_pointer(&attempts->diag[i], diag_free);
  }
  place_log_free(attempts->places);
  g_free(attempts->run);
  g_free(attempts->diag);
  fence_search_free(attempts->fences);
  g_mutex_clear(&attempts->lock);
}

/* The schedules to try. */
static GArray *make_schedules(const Scenario *scenario, const Machine *machine, const CheckOptions *options,
                              Diag *diag) {
  ScheduleKinds kinds = schedule_kinds(scenario, machine, diag);
  return options->schedules ? schedules_count(machine, options->run.seed, options->schedules, kinds)
                            : schedules_by_seeds(machine, options->run.seed, options->seeds, kinds);
}

RunResult *check_scenario(const Scenario *scenario, const Machine *machine, const CheckOptions *options, Diag *diag) {
  g_autoptr(GArray) schedules = make_schedules(scenario, machine, options, diag);
  const Expectation *expect = scenario_expectation(scenario, machine->name);
  Gathering all = {.united = {.findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free),
                              .failures = g_ptr_array_new_with_free_func(g_free),
                              .schedules = g_array_new(FALSE, FALSE, sizeof(ScheduleResult)),
                              .file = scenario->file},
                   .reliance = reliance_new(),
                   .options = options,
                   .scenario = scenario,
                   .machine = machine};
  Attempts attempts = {.scenario = scenario,
                       .machine = machine,
                       .options = options,
                       .schedules = schedules,
                       .first = &all.first,
                       .jobs = 1,
                       .fences = fence_search_new(scenario, machine, &options->run, schedules),
                       .places = place_log_new(),
                       .run = g_new0(RunResult *, schedules->len + SCHEDULES_PLACES_MAX),
                       .diag = g_new0(Diag *, schedules->len + SCHEDULES_PLACES_MAX)};
  RunResult *result = NULL;
  g_mutex_init(&attempts.lock);
  results_init(&all.results);
  all.united.schedules_wanted = schedules->len;
  if (attempt_all(&attempts, &all, diag)) {
    settle_older(&all, schedules, expect, diag);
    settle_consequences(&all, expect);
    settle_reliance(&all, expect);
    result = unite(&all, expect);
  } else {
    gathering_drop(&all);
  }
  attempts_clear(&attempts);
  reliance_free(all.reliance);
  results_clear(&all.results);
  return result;
}
