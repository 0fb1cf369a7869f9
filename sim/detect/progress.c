#include "sim/detect/progress.h"

#include "sim/detect/diagnose.h"
#include "sim/detect/locate.h"
#include "sim/detect/recurrence.h"

/* After so many looks in a row that found a live program, and then at each doubling, states are watched for
 * recurrence. */
enum { LOOKS_BEFORE_RECURRENCE = 4 };
/* A recurrence may be a resonance of the simulated timing, which has no noise of its own. So the warps are then held up at
 * random: only if states still recur in so many looks more is it a livelock. */
enum { RECURRENCES_IN_NOISE = 3 };

typedef struct Watch {
  Gpu *gpu;
  const ProgressOptions *options;
  GPtrArray *findings;
  uint64_t interval;  /* instructions until the next look */
  unsigned live_looks;/* in a row, without progress */
  unsigned recurrences;/* seen since the last progress */
} Watch;

static void report_fault(Gpu *gpu, GPtrArray *findings) {
  const Fault *fault = &gpu->fault;
  const Launch *launch = gpu_launch(gpu, fault->launch);
  g_autofree char *who = locate_lanes_text(gpu, launch, fault->block, fault->warp, fault->lanes);
  Finding *finding = locate_finding(FINDING_FAULT, g_strdup_printf("%s: %s", who, fault->message), launch, fault->pc);
  finding->cycle = fault->cycle;
  finding->block = (int64_t)fault->block;
  finding->warp = fault->warp;
  finding->lanes = fault->lanes;
  if (fault->space) {
    finding->space = g_strdup(fault->space);
    finding->address = fault->address;
  }
  finding->repair = g_strdup(fault->repair);
  g_ptr_array_insert(findings, 0, finding);
}

/* The warp that another order of steps would free, from the last exploration. */
static void report_livelock(Watch *watch) {
  Explorer *explorer = explorer_new(watch->gpu);
  const WarpView *view = explorer_prove(explorer) == EXPLORE_LIVE ? explorer->finisher : NULL;
  if (!view && explorer->views->len)
    view = g_ptr_array_index(explorer->views, 0);
  if (view) {
    g_autofree char *who = locate_lanes_text(watch->gpu, view->launch, view->block->index, view->warp->warp_in_block,
                                             view->warp->alive);
    Finding *finding = locate_finding(
        FINDING_LIVELOCK,
        g_strdup_printf("%s: the same states recur without progress; another order of steps would let this warp finish", who),
        view->launch, view->warp->pc);
    finding->cycle = watch->gpu->cycle;
    finding->block = (int64_t)view->block->index;
    finding->warp = view->warp->warp_in_block;
    finding->lanes = view->warp->alive;
    finding->repair = g_strdup("break the symmetry: give the contenders an order, or back off by different times");
    g_ptr_array_insert(watch->findings, 0, finding);
  }
  explorer_free(explorer);
}

/* Looks whether anybody can still finish. True if the verdict is known. */
static bool look(Watch *watch, Outcome *outcome) {
  Explorer *explorer = explorer_new(watch->gpu);
  ExploreResult result = explorer_prove(explorer);
  bool stuck = result == EXPLORE_STUCK;
  if (stuck) {
    GPtrArray *causes = g_ptr_array_new();
    WaitGraph *graph = wait_graph_new(explorer);
    outcome->verdict = diagnose(graph, causes);
    outcome->wait_graph_dot = wait_graph_dot(graph);
    outcome->wait_graph_json = wait_graph_json(graph);
    wait_graph_free(graph);
    for (guint i = causes->len; i-- > 0;)
      g_ptr_array_insert(watch->findings, 0, g_ptr_array_index(causes, i));
    g_ptr_array_free(causes, TRUE);
  }
  watch->live_looks++;
  watch->interval = MAX(MAX(watch->interval + watch->interval / 4, (uint64_t)WATCH_INSTRUCTIONS),
                        explorer->steps * WATCH_COST_FACTOR);
  explorer_free(explorer);
  return stuck;
}

/* True if the run ended with this stop. */
static bool conclude(Watch *watch, GpuStop stop, Outcome *outcome) {
  switch (stop) {
  case GPU_FINISHED:
    outcome->verdict = VERDICT_COMPLETED;
    return true;
  case GPU_FAULT:
    outcome->verdict = VERDICT_FAULT;
    report_fault(watch->gpu, watch->findings);
    return true;
  case GPU_LIMIT:
    outcome->verdict = VERDICT_UNDECIDED;
    return true;
  case GPU_BLOCKED:
    if (!look(watch, outcome))
      outcome->verdict = VERDICT_UNDECIDED; /* a cap of the proof was hit: nothing runs, but nothing is proved */
    return true;
  case GPU_BUDGET:
    break;
  }
  return false;
}

static bool due_for_recurrence(const Watch *watch) {
  bool doubled = (watch->live_looks & (watch->live_looks - 1)) == 0;
  return watch->live_looks >= LOOKS_BEFORE_RECURRENCE && (doubled || watch->gpu->noisy);
}

/* True if the run ended, by a livelock or otherwise. */
static bool watch_recurrence(Watch *watch, Outcome *outcome) {
  GpuStop stop;
  if (!recurrence_watch(watch->gpu, watch->options->limit_cycles, &stop))
    return stop != GPU_BUDGET && conclude(watch, stop, outcome);
  if (!watch->gpu->noisy) {
    watch->gpu->noisy = true;
    return false;
  }
  if (++watch->recurrences < RECURRENCES_IN_NOISE || !watch->options->livelocks)
    return false;
  outcome->verdict = VERDICT_LIVELOCK;
  outcome->candidate = true;
  report_livelock(watch);
  return true;
}

Outcome progress_run(Gpu *gpu, const ProgressOptions *options, GPtrArray *findings) {
  Watch watch = {.gpu = gpu, .options = options, .findings = findings, .interval = WATCH_INSTRUCTIONS};
  Outcome outcome = {.verdict = VERDICT_UNDECIDED};
  GTimer *timer = g_timer_new();
  for (;;) {
    uint64_t progress = gpu->progress;
    if (conclude(&watch, gpu_run(gpu, watch.interval, options->limit_cycles), &outcome))
      break;
    if (options->heartbeat)
      options->heartbeat(options->heartbeat_user, gpu->cycle, gpu->counters.warp_instructions);
    if (options->limit_seconds > 0 && g_timer_elapsed(timer, NULL) > options->limit_seconds)
      break;
    if (gpu->progress != progress) {
      watch.live_looks = watch.recurrences = 0;
      gpu->noisy = false;
      continue;
    }
    if (look(&watch, &outcome) || (due_for_recurrence(&watch) && watch_recurrence(&watch, &outcome)))
      break;
  }
  g_timer_destroy(timer);
  return outcome;
}

void outcome_clear(Outcome *outcome) {
  g_free(outcome->wait_graph_dot);
  g_free(outcome->wait_graph_json);
}
