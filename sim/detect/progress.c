#include "sim/detect/progress.h"

#include "base/bits.h"
#include "sim/core/host.h"
#include "sim/core/look.h"
#include "sim/detect/livelock.h"
#include "sim/detect/naming/diagnose.h"
#include "sim/detect/naming/locate.h"
#include "sim/detect/naming/standing.h"
#include "sim/detect/proof/closure.h"
#include "sim/detect/proof/recurrence.h"
#include "sim/detect/proof/repetition.h"
#include "sim/detect/proof/settle.h"
#include "sim/detect/proof/stillness.h"

/* After so many looks in a row that found a live program, and then at each doubling, states are watched for
 * recurrence. */
enum { LOOKS_BEFORE_RECURRENCE = 4 };
/* After so many nobody has a way out but the round of a counter, perhaps. */
enum { LOOKS_BEFORE_ROUND = 8 };
/* A recurrence may be a resonance of the simulated timing, which has no noise of its own. So the warps are then held
 * up at random: only if in so many watches more, one behind the other, all do what they have done, and no register
 * and no word comes to another value, is it a livelock. */
enum { REPETITIONS_IN_NOISE = 3 };
/* Where that has ended a circle so often it stays to the end of the run: each circle takes long to be seen. */
enum { CIRCLES_ENDED = 2 };
/* After a proof, so many slices more, each twice as long, for threads that haven't come to where they will hang. */
enum { SLICES_TO_SETTLE = 6 };
/* A look may explore so many steps, or one for so many instructions since the last look: a step takes two to three
 * times as long as an instruction. */
enum { LOOK_STEPS = 20000, INSTRUCTIONS_PER_STEP = 4 };
/* Barriers that complete are progress, but an endless loop may hold one: a look after so many slices without any
 * other. */
enum { SLICES_OF_BARRIERS = 16 };
/* Threads that sleep issue little: a slice takes no more than so many cycles. */
#define SLICE_CYCLES UINT64_C(20000000)
/* Under a watch for circles an instruction takes some times as long: such a part of those since the last progress is
 * watched. The next watch comes when there are so many times as many, at the latest. */
enum { WATCHED_PART = 16, WATCH_AGAIN_FACTOR = 4 };
/* A slice goes in pieces, so that a wish to stop is heard within a second. */
enum { PIECE_INSTRUCTIONS = 200000 };

typedef struct Watch {
  Gpu *gpu;
  const ProgressOptions *options;
  GPtrArray *findings;
  Explorer *explorer;      /* NULL before the first look */
  ExploreFirst first;      /* who could finish at the last look: it may be so still */
  uint64_t interval;       /* instructions until the next look */
  uint64_t limit_cycles;   /* the options', or for how long they have patience */
  uint64_t until;          /* cycle in which the slice ends at the latest */
  uint64_t calm_from;      /* instructions issued at the last progress */
  uint64_t watched_at;     /* instructions since then, when states were watched last; 0: they weren't */
  unsigned live_looks;     /* in a row, without progress */
  unsigned barrier_slices; /* in a row, with barriers completed and nothing else */
  Closure *closure;        /* NULL: nobody was watched since the last progress */
  RepetitionSeen *seen;    /* while they are held up at random; NULL: nothing */
  Settle settle;           /* where the warps were seen last */
  uint64_t disturbed_at;   /* cycle in which warps were first held up at random; 0: never */
  unsigned circles_ended;  /* so often there was progress while they were */
  unsigned proofs;         /* that nobody can finish, while threads hadn't settled */
  uint64_t explored;       /* steps of all looks */
  GArray *rising;          /* WordKey: counters that would have to come round; NULL: there are none */
} Watch;

/* Who called malloc() or free(), if somebody did. */
static void add_heap_call(const Gpu *gpu, Finding *finding, const WordChange *call, const char *what) {
  if (thread_is_none(call->thread))
    return;
  g_autofree char *who = locate_thread_text(gpu, call->thread);
  locate_evidence(finding, gpu_launch(gpu, call->thread.launch), call->pc,
                  g_strdup_printf("%s %s in cycle %" G_GUINT64_FORMAT, what, who, call->cycle));
}

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
  add_heap_call(gpu, finding, &fault->taken, "malloc() was called by");
  add_heap_call(gpu, finding, &fault->given, "free() was called by");
  g_ptr_array_insert(findings, 0, finding);
}

/* What the unfinished threads can still do, as the machine stands. No more steps than `budget`; 0: as many as it
 * takes. */
static ExploreResult explore(Watch *watch, uint64_t budget) {
  if (watch->explorer)
    explorer_restart(watch->explorer);
  else
    watch->explorer = explorer_new(watch->gpu);
  watch->explorer->budget = budget;
  explorer_begin_with(watch->explorer, &watch->first);
  ExploreResult result = explorer_prove(watch->explorer);
  watch->explorer->budget = 0; /* who asks on may do so */
  watch->explored += watch->explorer->steps;
  if (result == EXPLORE_LIVE)
    watch->first = explorer_first(watch->explorer);
  return result;
}

/* The host waits for ever, and no thread is left: a finding of its own. */
static Verdict report_host(Watch *watch) {
  const Gpu *gpu = watch->gpu;
  g_autofree char *what = host_text(gpu->host);
  Finding *finding =
      finding_new(FINDING_ORPHAN_WAIT, g_strdup_printf("the host %s; no thread is left that could change it", what));
  finding->file = g_strdup(gpu->launches->len ? gpu_launch(gpu, 0)->program->file : NULL);
  finding->cycle = gpu->cycle;
  finding->repair =
      g_strdup("let a thread store what the host waits for before it exits, or let the host stop waiting");
  g_ptr_array_insert(watch->findings, 0, finding);
  return VERDICT_ORPHAN_WAIT;
}

/* It waits for something that the GPU would have to do. */
static bool host_hangs(const Host *host) { return host && host->state != HOST_DONE && host_is_still(host); }

/* The threads that wait may wait for the host, too. */
static void add_host(const Gpu *gpu, GPtrArray *findings) {
  if (!gpu->host)
    return;
  g_autofree char *what = host_text(gpu->host);
  for (guint i = 0; i < findings->len; i++)
    finding_add_evidence(g_ptr_array_index(findings, i), 0, g_strdup_printf("the host %s", what));
}

/* Names and explains the deadlock that was proved. */
static void explain(Watch *watch, Explorer *explorer, Outcome *outcome) {
  GPtrArray *causes = g_ptr_array_new();
  WaitGraph *graph = wait_graph_new(explorer);
  outcome->verdict = diagnose(graph, causes);
  outcome->wait_graph_dot = watch->options->graph ? wait_graph_dot(graph) : NULL;
  outcome->wait_graph_json = watch->options->graph ? wait_graph_json(graph) : NULL;
  wait_graph_free(graph);
  add_host(watch->gpu, causes);
  for (guint i = causes->len; i-- > 0;)
    g_ptr_array_insert(watch->findings, 0, g_ptr_array_index(causes, i));
  g_ptr_array_free(causes, TRUE);
}

/* Steps that a look may take: the exploration is to cost less than the instructions run since the last one. Where
 * the run has ended there is time. */
static uint64_t budget_of(const Watch *watch, bool run_ended) {
  return run_ended ? 0 : MAX((uint64_t)LOOK_STEPS, watch->interval / INSTRUCTIONS_PER_STEP);
}

/* The time to the next look grows with what the last one took, and while looks find nothing. */
static void wait_longer(Watch *watch) {
  unsigned factor = MIN((unsigned)WATCH_COST_FACTOR, 8u << MIN(watch->live_looks, 8u));
  uint64_t longer = MAX(watch->interval + watch->interval / 4, (uint64_t)WATCH_INSTRUCTIONS);
  watch->live_looks++;
  watch->interval = MAX(longer, watch->explorer->steps * factor);
}

static bool conclude(Watch *watch, GpuStop stop, Outcome *outcome);

/* True if nobody can finish, by a proof. */
static bool is_stuck(Watch *watch, uint64_t budget) {
  return explore(watch, budget) == EXPLORE_STUCK && (watch->explorer->views->len || host_hangs(watch->gpu->host));
}

/* Looks whether anybody can still finish. True if the verdict is known. After a proof a window shows who has come
 * to rest. */
static bool look(Watch *watch, bool run_ended, Outcome *outcome) {
  bool stuck = is_stuck(watch, budget_of(watch, run_ended));
  if (stuck && !run_ended) {
    GpuStop stop = settle_watch(&watch->settle, watch->gpu, watch->limit_cycles);
    watch->proofs += stop == GPU_LIMIT;
    if (stop != GPU_BUDGET)
      return conclude(watch, stop, outcome);
    stuck = is_stuck(watch, 0);
  }
  if (!stuck) {
    wait_longer(watch);
    return false;
  }
  if (!run_ended && watch->proofs < SLICES_TO_SETTLE && !settle_done(&watch->settle, watch->explorer)) {
    watch->interval = (uint64_t)WATCH_INSTRUCTIONS << ++watch->proofs;
    return false;
  }
  if (watch->explorer->views->len == 0)
    outcome->verdict = report_host(watch);
  else
    explain(watch, watch->explorer, outcome);
  return true;
}

/* The patience is over. If nobody can finish any more the run goes on until it is known what they wait for. */
static bool is_worth_going_on(Watch *watch) {
  uint64_t limit = watch->options->limit_cycles;
  if (watch->limit_cycles >= limit || (watch->proofs == 0 && !is_stuck(watch, budget_of(watch, false))))
    return false;
  watch->limit_cycles = limit;
  return true;
}

/* True if the run ended with this stop. */
static bool conclude(Watch *watch, GpuStop stop, Outcome *outcome) {
  switch (stop) {
  case GPU_FINISHED: outcome->verdict = VERDICT_COMPLETED; return true;
  case GPU_FAULT:
    outcome->verdict = VERDICT_FAULT;
    report_fault(watch->gpu, watch->findings);
    return true;
  case GPU_LIMIT:
    if (is_worth_going_on(watch))
      return false;
    if (watch->proofs == 0 || !look(watch, true, outcome)) {
      outcome->verdict = VERDICT_UNDECIDED;
      bool windowed = watch->options->windowed && watch->limit_cycles == watch->options->limit_cycles;
      outcome->stop = windowed ? STOP_WINDOW : STOP_CYCLES;
    }
    return true;
  case GPU_BLOCKED:
    if (!look(watch, true, outcome))
      outcome->verdict = VERDICT_UNDECIDED; /* a cap of the proof was hit: nothing runs, but nothing is proved */
    return true;
  case GPU_BUDGET: break;
  }
  return false;
}

enum { COUNTERS_SHOWN = 4 };

static gint compare_keys(gconstpointer a, gconstpointer b) {
  WordKey one = *(const WordKey *)a, other = *(const WordKey *)b;
  return one < other ? -1 : one > other;
}

/* The words of global memory that only rise. */
static GArray *rising_words(const Explorer *explorer) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(WordKey));
  GHashTableIter words;
  gpointer value;
  g_hash_table_iter_init(&words, explorer->memory.words);
  while (g_hash_table_iter_next(&words, NULL, &value)) {
    const ValueSet *set = value;
    if (set->adds && set->adds->rises && !word_key_is_shared(set->key) && !word_key_is_local(set->key))
      g_array_append_val(all, set->key);
  }
  g_array_sort(all, compare_keys);
  return all;
}

/* Nobody can finish as long as the counters to which threads add again and again only rise: somebody waits for a
 * value that one of them has passed. They come round some time, so that is no deadlock, but it takes longer than
 * a run. */
static bool waits_for_round(Watch *watch) {
  if (watch->proofs || watch->live_looks < LOOKS_BEFORE_ROUND) /* a proof without that is to come */
    return false;
  Explorer *explorer = explorer_new(watch->gpu);
  explorer->budget = budget_of(watch, false);
  explorer->memory.rising = true;
  bool stuck = explorer_prove(explorer) == EXPLORE_STUCK && explorer->views->len;
  watch->explored += explorer->steps;
  g_autoptr(GArray) rising = rising_words(explorer);
  explorer_free(explorer);
  if (!stuck || !rising->len)
    return false;
  watch->rising = g_steal_pointer(&rising);
  return true;
}

static void add_rising(const Watch *watch, Finding *finding) {
  for (guint i = 0; watch->rising && i < MIN(watch->rising->len, (guint)COUNTERS_SHOWN); i++) {
    uint64_t address = g_array_index(watch->rising, WordKey, i) * 4;
    g_autofree char *where = locate_global_text(watch->gpu, address);
    finding_add_evidence(finding, 0,
                         g_strdup_printf("%s is %u by now, and only rises", where, look_global(watch->gpu, address)));
  }
  if (watch->rising)
    finding->repair = g_strdup("wait until the counter has come to the number or past it (>=), not until it is "
                               "just that (!=), or let what is added stop there");
}

/* Instructions issued since the last progress. */
static uint64_t calm_instructions(const Watch *watch) {
  return watch->gpu->counters.warp_instructions - watch->calm_from;
}

static bool due_for_recurrence(const Watch *watch) {
  bool doubled = (watch->live_looks & (watch->live_looks - 1)) == 0;
  bool grown = watch->watched_at && calm_instructions(watch) / WATCH_AGAIN_FACTOR >= watch->watched_at;
  return watch->live_looks >= LOOKS_BEFORE_RECURRENCE && (doubled || grown || watch->gpu->noisy);
}

/* The lanes of the warp take what each other waits for, and give it back, all in step: that is no deadlock. */
static void name_turns(Watch *watch, guint causes, uint64_t since, const Warp *warp, Outcome *outcome) {
  bool named = outcome->verdict == VERDICT_LOCK_ORDER_DEADLOCK || outcome->verdict == VERDICT_ORPHAN_WAIT;
  bool in_step = bits_count(warp->active) > 1;
  Finding *finding = named && in_step && livelock_takes_all(watch->gpu, watch->findings, causes, since)
                         ? livelock_report_alone(watch->gpu, warp, true)
                         : NULL;
  if (!finding)
    return;
  g_ptr_array_remove_range(watch->findings, 0, causes);
  g_ptr_array_insert(watch->findings, 0, finding);
  outcome->verdict = VERDICT_LIVELOCK;
}

/* Only one warp can issue, and its state came back: it goes on like that for ever, and there is no other order.
 * Named after what keeps it from ending, as a deadlock, as far as what it reads in the circle says that. */
static bool conclude_alone(Watch *watch, Warp *warp, Outcome *outcome) {
  GpuStop stop;
  uint64_t since = watch->gpu->cycle;
  SeenLoads *seen = seen_record(watch->gpu, warp, RECURRENCE_WINDOW, watch->limit_cycles, &stop);
  if (!seen)
    return conclude(watch, stop, outcome);
  Explorer *explorer = explorer_new(watch->gpu);
  explorer->seen = seen;
  if (explorer_prove(explorer) != EXPLORE_LIVE && !explorer->gave_up) {
    guint before = watch->findings->len;
    explain(watch, explorer, outcome);
    name_turns(watch, watch->findings->len - before, since, warp, outcome);
  } else {
    outcome->verdict = VERDICT_LIVELOCK;
    outcome->alone = warp;
  }
  explorer_free(explorer);
  seen_free(seen);
  return true;
}

/* Explains who waits for what while no word changes. False if there seems to be a way out. */
static bool explain_round(Watch *watch, const SeenLoads *seen, Outcome *outcome) {
  Explorer *explorer = explorer_new(watch->gpu);
  explorer->exchanged = seen;
  bool stuck = explorer_prove(explorer) == EXPLORE_STUCK;
  if (stuck)
    explain(watch, explorer, outcome);
  explorer_free(explorer);
  return stuck;
}

/* No word changes all the way round: every order of steps goes the same way. Named like a deadlock; false if the
 * circle doesn't say by what. */
static bool conclude_still(Watch *watch, Outcome *outcome) {
  GpuStop stop;
  SeenWindow window = {.instructions = RECURRENCE_WINDOW};
  SeenLoads *seen = seen_new_exchanges();
  bool still = seen_record_exchanges(seen, watch->gpu, &window, watch->limit_cycles, &stop);
  bool over = still ? explain_round(watch, seen, outcome) : stop != GPU_BUDGET && conclude(watch, stop, outcome);
  seen_free(seen);
  return over;
}

/* All warps go round for ever, in whatever order. Named like a deadlock, if what they find says by what. */
static void conclude_circle(Watch *watch, Circle *circle, Outcome *outcome) {
  if (!explain_round(watch, circle->seen, outcome)) {
    outcome->verdict = VERDICT_LIVELOCK;
    g_ptr_array_insert(watch->findings, 0, livelock_report_circle(watch->gpu, circle));
  }
  circle_free(circle);
}

/* True if the run ended. `circle`: how all go round; NULL: they don't, as far as is known, or the run stopped. */
static bool conclude_watch(Watch *watch, Circle *circle, GpuStop stop, Outcome *outcome) {
  if (!circle)
    return stop != GPU_BUDGET && conclude(watch, stop, outcome);
  conclude_circle(watch, circle, outcome);
  return true;
}

/* True if the run ended, since nothing changes any more, or otherwise. */
static bool watch_stillness(Watch *watch, Outcome *outcome) {
  GpuStop stop;
  Circle *circle = stillness_watch(watch->gpu, calm_instructions(watch) / WATCHED_PART, watch->limit_cycles, &stop);
  return conclude_watch(watch, circle, stop, outcome);
}

/* From now on warps are held up at random. */
static void disturb(Watch *watch) {
  watch->gpu->noisy = true;
  watch->disturbed_at = watch->gpu->cycle;
}

/* True if the run ended, since all warps have been seen to do all that they can do, or otherwise. */
static bool watch_closure(Watch *watch, Outcome *outcome) {
  GpuStop stop;
  if (!watch->closure)
    watch->closure = closure_new(watch->gpu);
  Circle *circle = closure_watch(watch->closure, calm_instructions(watch) / WATCHED_PART, watch->limit_cycles, &stop);
  if (!circle && !watch->gpu->noisy && closure_is_usual(watch->closure))
    disturb(watch); /* what this schedule never shows may come up then */
  if (closure_gave_up(watch->closure))
    g_clear_pointer(&watch->closure, closure_free);
  return conclude_watch(watch, circle, stop, outcome);
}

/* All go on as they did: held up at random, they may not. True if the run ended, by a livelock. */
static bool watch_repetition(Watch *watch, Outcome *outcome) {
  GpuStop stop;
  bool noisy = watch->gpu->noisy;
  if (!watch->seen)
    watch->seen = repetition_seen_new();
  bool repeats =
      repetition_watch(watch->gpu, watch->seen, calm_instructions(watch) / WATCHED_PART, watch->limit_cycles, &stop);
  if (noisy && repeats && watch->seen->repeats >= REPETITIONS_IN_NOISE && watch->options->livelocks) {
    outcome->verdict = VERDICT_LIVELOCK;
    outcome->candidate = true;
    return true;
  }
  if (!noisy && repeats)
    disturb(watch);
  if (!noisy)
    g_clear_pointer(&watch->seen, repetition_seen_free);
  return stop != GPU_BUDGET && conclude(watch, stop, outcome);
}

/* The state of the machine doesn't come back: perhaps nothing changes, or each warp goes round. True if the run
 * ended. */
static bool watch_each(Watch *watch, Outcome *outcome) {
  return watch_stillness(watch, outcome) || watch_closure(watch, outcome) || watch_repetition(watch, outcome);
}

/* True if the run ended, by a livelock or otherwise. */
static bool watch_recurrence(Watch *watch, Outcome *outcome) {
  GpuStop stop;
  uint64_t barriers = watch->gpu->counters.barriers_completed;
  watch->watched_at = calm_instructions(watch);
  if (!recurrence_watch(watch->gpu, watch->limit_cycles, &stop))
    return stop == GPU_BUDGET ? watch_each(watch, outcome) : conclude(watch, stop, outcome);
  bool by_barriers = watch->gpu->counters.barriers_completed != barriers;
  Warp *only = by_barriers ? NULL : seen_only_warp(watch->gpu);
  if (only)
    return conclude_alone(watch, only, outcome);
  if (!by_barriers && (conclude_still(watch, outcome) || watch_closure(watch, outcome)))
    return true;
  if (watch->gpu->noisy)
    return watch_repetition(watch, outcome);
  disturb(watch);
  return false;
}

/* As gpu_run() with the watch's interval, or less if somebody wants it to stop, or if that takes long. */
static GpuStop run_pieces(Watch *watch) {
  Gpu *gpu = watch->gpu;
  GpuStop stop = GPU_BUDGET;
  watch->until = MIN(MAX(watch->until, gpu->cycle) + SLICE_CYCLES, watch->limit_cycles);
  for (int64_t left = (int64_t)watch->interval; left > 0 && stop == GPU_BUDGET;) {
    int64_t piece = MIN(left, (int64_t)PIECE_INSTRUCTIONS);
    stop = gpu_run(gpu, (uint64_t)piece, watch->until);
    if (stop == GPU_LIMIT && watch->until < watch->limit_cycles)
      return GPU_BUDGET;
    left -= piece - gpu->budget; /* it may have issued a few more */
    if (watch->options->heartbeat)
      watch->options->heartbeat(watch->options->heartbeat_user, gpu->cycle, gpu->counters.warp_instructions);
    if (stop_asked(watch->options->stop))
      break;
  }
  return stop;
}

/* Runs until the next look may be due; *calm: it is, there was no progress. */
static GpuStop run_slice(Watch *watch, bool *calm) {
  Gpu *gpu = watch->gpu;
  uint64_t progress = gpu->progress, moved = gpu_moves(gpu);
  GpuStop stop = run_pieces(watch);
  if (gpu_moves(gpu) != moved) {
    watch->live_looks = watch->barrier_slices = 0;
    watch->calm_from = gpu->counters.warp_instructions;
    watch->watched_at = 0;
    watch->circles_ended += gpu->noisy;
    gpu->noisy = gpu->noisy && watch->circles_ended >= CIRCLES_ENDED;
    g_clear_pointer(&watch->closure, closure_free);
    g_clear_pointer(&watch->seen, repetition_seen_free);
  } else if (gpu->progress != progress) {
    watch->barrier_slices++;
  }
  *calm = gpu->progress == progress || watch->barrier_slices >= SLICES_OF_BARRIERS;
  if (*calm)
    watch->barrier_slices = 0;
  return stop;
}

/* The run went on only because warps were held up at random: its cycles are no prediction. */
static void report_disturbance(Watch *watch) {
  const Launch *launch = gpu_launch(watch->gpu, 0);
  char *message =
      g_strdup_printf("threads went in circles, each keeping others from going on, until warps were held up at "
                      "random from cycle %" G_GUINT64_FORMAT " on; the cycles of this run say little",
                      watch->disturbed_at);
  Finding *finding = finding_new(FINDING_TIMING_STARVATION, message);
  finding->file = g_strdup(launch->program->file);
  finding->cycle = watch->disturbed_at;
  finding->repair = g_strdup("back off by different times, or take the locks in one order");
  g_ptr_array_add(watch->findings, finding);
}

Outcome progress_run(Gpu *gpu, const ProgressOptions *options, GPtrArray *findings) {
  Watch watch = {.gpu = gpu,
                 .options = options,
                 .findings = findings,
                 .interval = WATCH_INSTRUCTIONS,
                 .limit_cycles = MIN(options->limit_cycles,
                                     options->patience_cycles ? options->patience_cycles : options->limit_cycles)};
  Outcome outcome = {.verdict = VERDICT_UNDECIDED};
  gpu->stop = options->stop;
  for (;;) {
    bool calm;
    if (conclude(&watch, run_slice(&watch, &calm), &outcome))
      break;
    if ((outcome.stop = stop_asked(options->stop)))
      break;
    if (!calm)
      continue;
    if (look(&watch, false, &outcome))
      break;
    if (!due_for_recurrence(&watch))
      continue;
    if (watch_recurrence(&watch, &outcome))
      break;
    if (waits_for_round(&watch)) {
      outcome.stop = STOP_ROUND;
      break;
    }
  }
  bool helped = outcome.verdict == VERDICT_UNDECIDED ? watch.circles_ended > 0 : outcome.verdict == VERDICT_COMPLETED;
  if (watch.disturbed_at && helped)
    report_disturbance(&watch);
  if (outcome.verdict == VERDICT_UNDECIDED && !outcome.stop)
    outcome.stop = stop_asked(options->stop);
  if (outcome.verdict == VERDICT_UNDECIDED) {
    g_ptr_array_insert(findings, 0, standing_report(gpu, outcome.stop));
    add_rising(&watch, g_ptr_array_index(findings, 0));
  }
  outcome.explored = watch.explored;
  settle_clear(&watch.settle);
  closure_free(watch.closure);
  repetition_seen_free(watch.seen);
  if (watch.rising)
    g_array_unref(watch.rising);
  explorer_free(watch.explorer);
  return outcome;
}

bool outcome_explain(const Outcome *outcome, Gpu *gpu, GPtrArray *findings) {
  bool ends = false;
  Finding *finding = outcome->candidate ? livelock_report(gpu, &ends)
                     : outcome->alone   ? livelock_report_alone(gpu, outcome->alone, false)
                                        : NULL;
  if (finding)
    g_ptr_array_insert(findings, 0, finding);
  return ends;
}

void outcome_clear(Outcome *outcome) {
  g_free(outcome->wait_graph_dot);
  g_free(outcome->wait_graph_json);
}
