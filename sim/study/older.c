#include "sim/study/older.h"

#include "sim/study/schedule.h"

/* Of all findings of a check: one that needs more stands. Of a long program only a few loads of each are tried. */
enum { TRIALS_MAX = 100, LONG_INSTRUCTIONS = 100000, LONG_LOADS = 2 };
/* A load that reads something older may take its thread once more around a loop, and no longer. */
enum { CYCLES_FACTOR = 4, CYCLES_MIN = 1000000 };
/* As many loads of a warp are late together; a loop that polls has to end. */
enum { LATE_LOADS = 64 };

/* Others that rely on an order are tried by themselves. */
static bool is_harm(const Finding *found, const GPtrArray *known) {
  if (finding_severity(found->id) == SEVERITY_NOTE || found->id == FINDING_UNORDERED_ACCESS ||
      found->id == FINDING_STALE_READ)
    return false;
  for (guint i = 0; i < known->len; i++)
    if (finding_same_place(g_ptr_array_index(known, i), found))
      return false;
  return true;
}

/* What the scenario expects of buffers; NULL: nothing. */
static const Expectation *expected_of(const OlderTrials *trials) {
  const Expectation *expect = scenario_expectation(trials->scenario, trials->machine->name);
  return expect && expect->buffers->len ? expect : NULL;
}

/* Completed, and each word of a buffer that all schedules left alike is the same. */
static bool ends_as_others(const OlderTrials *trials, const RunResult *run) {
  for (guint i = 0; i < run->findings->len; i++)
    if (is_harm(g_ptr_array_index(run->findings, i), trials->known))
      return false;
  return run->verdict == VERDICT_COMPLETED && !run->wrong_buffers &&
         results_are_among(trials->results, run, expected_of(trials) != NULL);
}

/* True if nothing comes of it. */
static bool try_run(const OlderTrials *trials, const Finding *finding, OlderRun older) {
  const Schedule *schedule = &g_array_index(trials->schedules, Schedule, finding->run.schedule);
  Machine *variant = schedule_machine(schedule, trials->machine);
  RunOptions options = *trials->options;
  options.seed = schedule->seed;
  options.races = options.keep_buffers = true;
  options.as_source = finding->run.as_source;
  options.older = &older;
  options.observer = NULL;
  options.heartbeat = NULL;
  options.details = options.graph = false;
  options.limit_cycles = MIN(options.limit_cycles, finding->run.cycles * CYCLES_FACTOR + CYCLES_MIN);
  g_autoptr(RunResult) run = run_scenario(trials->scenario, variant, &options, trials->diag);
  machine_free(variant);
  return run && ends_as_others(trials, run);
}

/* `more`: how many further loads of the warp give the older value, too. */
static bool try_load(const OlderTrials *trials, const Finding *finding, const OlderLoad *load, uint32_t more) {
  return try_run(trials, finding, (OlderRun){.load = *load, .more = more});
}

static void become_note(Finding *finding, guint runs) {
  finding->id = FINDING_OLDER_VALUE;
  finding_add_evidence(
      finding, 0,
      g_strdup_printf("tried: %u %s in which such a load gives the older value %s as all schedules do, "
                      "so nothing seems to rest on this order",
                      runs, runs == 1 ? "run" : "runs", runs == 1 ? "ends" : "end"));
  g_clear_pointer(&finding->repair, g_free);
}

/* Some run that nothing forbids ends otherwise than expected: one of these loads may be why. */
static bool does_harm(const OlderTrials *trials) {
  for (guint i = 0; i < trials->known->len; i++)
    if (((const Finding *)g_ptr_array_index(trials->known, i))->id == FINDING_UNEXPECTED_RESULT)
      return true;
  return false;
}

/* What a run should leave is known: the scenario says so, or all schedules leave the same. */
static bool may_judge(const OlderTrials *trials) {
  return trials->results->buffers && (trials->results->kinds->len == 1 || expected_of(trials));
}

static void tell_untried(Finding *finding) {
  finding_add_evidence(
      finding, 0,
      g_strdup("not tried whether an older value does harm: the schedules leave different words, and "
               "no `expect: buffers:` of a scenario says which are right"));
}

/* Lanes that only lock-step orders: where the order does no harm, or that isn't known, the finding becomes a note. */
static bool try_lanes(OlderTrials *trials, Finding *finding) {
  const GArray *all = finding->older_lanes;
  bool judges = !trials->stopped && may_judge(trials);
  guint made = 0;
  for (guint i = 0; judges && i < all->len; i++) {
    if (trials->made >= TRIALS_MAX || stop_asked(trials->options->stop))
      break;
    trials->made++;
    made++;
    if (try_run(trials, finding, (OlderRun){.lanes = &g_array_index(all, OlderLanes, i)}))
      continue;
    finding_add_evidence(finding, 0,
                         g_strdup("tried: a run in which these lanes aren't in lock-step there, as PTX allows, ends "
                                  "otherwise than all schedules do"));
    return false;
  }
  finding->id = FINDING_OLDER_VALUE;
  finding_add_evidence(
      finding, 0,
      made ? g_strdup_printf("tried: %u %s in which these lanes aren't in lock-step there %s as all schedules do, so "
                             "nothing seems to rest on it",
                             made, made == 1 ? "run" : "runs", made == 1 ? "ends" : "end")
           : g_strdup("not tried whether anything rests on it: nothing says what the buffers should hold"));
  g_clear_pointer(&finding->repair, g_free);
  return true;
}

bool older_try(OlderTrials *trials, Finding *finding) {
  if (finding->id == FINDING_UNORDERED_ACCESS && finding->older_lanes)
    return try_lanes(trials, finding);
  if (finding->id != FINDING_UNORDERED_ACCESS || !finding->older || trials->stopped || does_harm(trials))
    return false;
  if (!may_judge(trials)) {
    if (trials->results->buffers)
      tell_untried(finding);
    return false;
  }
  guint all = finding->older->len, before = trials->made,
        loads = trials->instructions > LONG_INSTRUCTIONS ? MIN(all, LONG_LOADS) : all;
  for (guint i = 0; i < loads; i++) { /* the first and the newest among them */
    const OlderLoad *load = &g_array_index(finding->older, OlderLoad, loads > 1 ? i * (all - 1) / (loads - 1) : 0);
    bool again = load->bytes && load->access; /* of global memory */
    trials->made += again ? 2 : 1;
    if (trials->made > TRIALS_MAX || stop_asked(trials->options->stop) || !try_load(trials, finding, load, 0) ||
        (again && !try_load(trials, finding, load, LATE_LOADS)))
      return false;
  }
  become_note(finding, trials->made - before);
  return true;
}
