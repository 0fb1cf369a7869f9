#include "sim/detect/livelock.h"

#include "base/bits.h"
#include "sim/core/look.h"
#include "sim/detect/naming/locate.h"
#include "sim/detect/naming/standing.h"
#include "sim/detect/proof/recurrence.h"

enum {
  ALONE_INSTRUCTIONS = 4000, /* of each warp alone */
  ALONE_CYCLES = 2000000,
  WARPS_ALONE_MAX = 64,
  TURNS_LEAST = 1000,
  TURNS_PER_WARP = 16, /* then, at random: so many turns, */
  TURN_SHORT = 64,
  TURN_SEEKS = 1024,            /* instructions until an access, at most */
  ORDER_INSTRUCTIONS = 1000000, /* so many instructions of all at most */
  STEPS_SHOWN = 8,
};

/* One access to memory on the way. */
typedef struct Step {
  const Launch *launch;
  uint64_t block;
  uint32_t warp, lanes, pc, times;
} Step;

typedef struct Order {
  Gpu *gpu;
  GArray *warps; /* WarpPlace */
  Step step[STEPS_SHOWN];
  uint64_t steps;        /* of all; the newest are kept */
  uint64_t instructions; /* since the machine stood in the state that recurs */
  bool in_step;          /* several lanes of a warp try for words at once */
  bool counts;           /* somebody adds to a word */
  uint32_t newest;       /* what was issued last: its pc, */
  bool accessed;         /* it has come to memory, */
  bool changed;          /* and changed it */
} Order;

static const char counts_repair[] =
    "let who waits look at the counter first, and change it only where that lets it through (a compare-and-swap), or "
    "back off by different times: what many take away for a moment keeps all of them out";
static const char lanes_repair[] =
    "let the lanes of the warp take their turns by number, take locks in one order, or take all that a lane needs in "
    "one step; lanes of one warp that go on together can't get out of each other's way";

static const char changes_repair[] =
    "let some thread make the change that they wait for, or give the loop another exit";

/* A turn of a warp. */
typedef enum { TURN_LONG, TURN_BRIEF, TURN_TO_CHANGE, TURN_BEHIND_ALL, TURN_TO_ACCESS } Turn;
/* One of these at random: what others do is mostly seen between two accesses. */
static const Turn turns_at_random[] = {TURN_LONG,       TURN_BRIEF,     TURN_TO_CHANGE,
                                       TURN_BEHIND_ALL, TURN_TO_ACCESS, TURN_TO_ACCESS};

/* An unfinished warp. */
typedef struct WarpPlace {
  Sm *sm;
  Warp *warp;
  const Launch *launch;
  uint64_t block, age;
  uint32_t warp_in_block, lanes;
} WarpPlace;

static GArray *list_warps(const Gpu *gpu) {
  GArray *warps = g_array_new(FALSE, FALSE, sizeof(WarpPlace));
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    for (uint32_t slot = 0; slot < gpu->sms[i].warp_slots; slot++) {
      Warp *warp = &gpu->sms[i].warps[slot];
      if (warp->state != WARP_RUNNING && warp->state != WARP_AT_BARRIER)
        continue;
      const Block *block = warp_block(&gpu->sms[i], warp);
      WarpPlace place = {&gpu->sms[i],        warp,       block->launch, block->index, warp->age,
                         warp->warp_in_block, warp->alive};
      g_array_append_val(warps, place);
    }
  return warps;
}

static bool has_exited(const WarpPlace *place) {
  return place->warp->age != place->age || place->warp->state == WARP_DONE || place->warp->state == WARP_FREE;
}

static bool tries(const Inst *inst) {
  uint32_t flags = op_info[inst->op].flags;
  return flags & OPF_LOCK || (flags & OPF_ATOMIC && (inst->mode == ATOM_CAS || inst->mode == ATOM_EXCH));
}

static void note_issued(void *user, const ProbePoint *point, uint64_t until) {
  (void)until;
  Order *order = user;
  order->instructions++;
  Unit unit = op_info[point->inst->op].unit;
  order->accessed = unit == UNIT_SHARED || unit == UNIT_GLOBAL;
  order->changed = (op_info[point->inst->op].flags & (OPF_STORE | OPF_ATOMIC)) != 0;
  if (!point->lanes || (unit != UNIT_SHARED && unit != UNIT_GLOBAL))
    return;
  order->newest = point->pc;
  order->counts |= op_info[point->inst->op].flags & OPF_ATOMIC && point->inst->mode == ATOM_ADD;
  order->in_step |= tries(point->inst) && bits_count(point->lanes) > 1;
  Step step = {point->block->launch, point->block->index, point->warp->warp_in_block, point->lanes, point->pc, 1};
  Step *last = order->steps ? &order->step[(order->steps - 1) % STEPS_SHOWN] : NULL;
  if (last && last->launch == step.launch && last->block == step.block && last->warp == step.warp &&
      last->pc == step.pc && last->lanes == step.lanes)
    last->times++;
  else
    order->step[order->steps++ % STEPS_SHOWN] = step;
}

/* Only that warp issues; all others are held. True if it exits. */
static bool run_alone(Order *order, const WarpPlace *place, uint64_t instructions) {
  Gpu *gpu = order->gpu;
  if (has_exited(place) || place->warp->state != WARP_RUNNING)
    return false;
  gpu->alone = place->warp;
  sm_release(place->sm, place->warp, gpu->cycle);
  gpu_run(gpu, instructions, gpu->cycle + ALONE_CYCLES);
  if (has_exited(place))
    return true;
  sm_hold(place->sm, place->warp, gpu->cycle);
  return false;
}

/* The same until the warp has come to memory, or `changes` it, by the instruction at `pc` (ANYWHERE: by any). */
#define ANYWHERE UINT32_MAX
static bool run_to_access(Order *order, const WarpPlace *place, bool changes, uint32_t pc) {
  bool there = false;
  order->accessed = order->changed = false;
  for (unsigned i = 0; i < TURN_SEEKS && !there && place->warp->state == WARP_RUNNING; i++) {
    if (run_alone(order, place, 1))
      return true;
    there = (changes ? order->changed : order->accessed) && (pc == ANYWHERE || pc == order->newest);
  }
  return false;
}

/* All others stop where they have changed memory, in one place, before the warp goes on. */
static bool run_behind_all(Order *order, const WarpPlace *place, Rng *rng) {
  if (run_to_access(order, place, true, ANYWHERE))
    return true;
  uint32_t pc = order->changed ? order->newest : ANYWHERE;
  for (guint i = 0; i < order->warps->len; i++) {
    const WarpPlace *other = &g_array_index(order->warps, WarpPlace, i);
    if (other != place && run_to_access(order, other, true, pc))
      return true;
  }
  return run_alone(order, place, 1 + rng_below(rng, ALONE_INSTRUCTIONS));
}

static bool take_turn(Order *order, const WarpPlace *place, Rng *rng) {
  switch (turns_at_random[rng_below(rng, G_N_ELEMENTS(turns_at_random))]) {
  case TURN_LONG: return run_alone(order, place, 1 + rng_below(rng, ALONE_INSTRUCTIONS));
  case TURN_BRIEF: return run_alone(order, place, 1 + rng_below(rng, TURN_SHORT));
  case TURN_TO_CHANGE: return run_to_access(order, place, true, ANYWHERE);
  case TURN_BEHIND_ALL: return run_behind_all(order, place, rng);
  default: return run_to_access(order, place, false, ANYWHERE);
  }
}

static const WarpPlace *find_exited(const Order *order) {
  for (guint i = 0; i < order->warps->len; i++)
    if (has_exited(&g_array_index(order->warps, WarpPlace, i)))
      return &g_array_index(order->warps, WarpPlace, i);
  return NULL;
}

static void hold_all(const Order *order) {
  for (guint i = 0; i < order->warps->len; i++) {
    const WarpPlace *place = &g_array_index(order->warps, WarpPlace, i);
    sm_hold(place->sm, place->warp, order->gpu->cycle);
  }
}

/* The warp that exits in some order, or NULL. */
static const WarpPlace *find_order(Order *order) {
  hold_all(order);
  for (guint i = 0; i < MIN(order->warps->len, (guint)WARPS_ALONE_MAX); i++) {
    const WarpPlace *place = &g_array_index(order->warps, WarpPlace, i);
    if (run_alone(order, place, ALONE_INSTRUCTIONS))
      return place;
  }
  Rng rng;
  rng_seed(&rng, order->gpu->seed, 0);
  uint64_t turns = MAX((uint64_t)TURNS_LEAST, (uint64_t)TURNS_PER_WARP * order->warps->len);
  for (uint64_t turn = 0; turn < turns && order->instructions < ORDER_INSTRUCTIONS; turn++) {
    const WarpPlace *place = &g_array_index(order->warps, WarpPlace, rng_below(&rng, order->warps->len));
    if (take_turn(order, place, &rng))
      return find_exited(order);
    if (order->gpu->fault.happened)
      break;
  }
  return NULL;
}

static char *who_text(const Gpu *gpu, const WarpPlace *place) {
  return locate_lanes_text(gpu, place->launch, place->block, place->warp_in_block, place->lanes);
}

static const char *deed_text(const Inst *inst) {
  uint32_t flags = op_info[inst->op].flags;
  return flags & OPF_FENCE    ? "passes this fence"
         : flags & OPF_ATOMIC ? "does this atomic operation"
         : flags & OPF_UNLOCK ? "frees the lock bit"
         : flags & OPF_LOCK   ? "tries to take the lock bit"
         : flags & OPF_STORE  ? "stores"
                              : "loads";
}

static void add_step(const Gpu *gpu, Finding *finding, const Step *step) {
  g_autofree char *who = locate_lanes_text(gpu, step->launch, step->block, step->warp, step->lanes);
  g_autofree char *times = step->times > 1 ? g_strdup_printf(", %u times in a row", step->times) : g_strdup("");
  locate_evidence(finding, step->launch, step->pc,
                  g_strdup_printf("then %s: %s%s", who, deed_text(&step->launch->kernel->insts[step->pc]), times));
}

static void add_steps(const Order *order, Finding *finding, const WarpPlace *place) {
  uint64_t shown = MIN(order->steps, (uint64_t)STEPS_SHOWN);
  finding_add_evidence(
      finding, 0,
      g_strdup_printf("an order that ends it, from cycle %" G_GUINT64_FORMAT " on: %" G_GUINT64_FORMAT
                      " instructions; %s %" G_GUINT64_FORMAT " steps in memory:",
                      finding->cycle, order->instructions, order->steps > shown ? "the last" : "its", shown));
  for (uint64_t i = order->steps - shown; i < order->steps; i++)
    add_step(order->gpu, finding, &order->step[i % STEPS_SHOWN]);
  g_autofree char *who = who_text(order->gpu, place);
  finding_add_evidence(finding, 0,
                       g_strdup_printf("and %s exit%s", who, place->lanes & (place->lanes - 1) ? "" : "s"));
}

static Finding *start_finding(const Gpu *gpu, const WarpPlace *place, uint32_t pc, const char *what) {
  g_autofree char *who = who_text(gpu, place);
  Finding *finding = locate_finding(FINDING_LIVELOCK, g_strdup_printf("%s: %s", who, what), place->launch, pc);
  finding->block = (int64_t)place->block;
  finding->warp = place->warp_in_block;
  finding->lanes = place->lanes;
  finding->cycle = gpu->cycle;
  return finding;
}

/* Drives the machine on; what it counts and prints meanwhile isn't the run's. `alone`: only that warp, to see what it
 * does. Returns who exits, or NULL. */
static const WarpPlace *try_orders(Order *order, const WarpPlace *alone) {
  Gpu *gpu = order->gpu;
  Counters counters = gpu->counters;
  uint64_t cycle = gpu->cycle;
  gsize printed = gpu->printed->len;
  g_autofree uint64_t *cycles = g_new(uint64_t, gpu->used_sms);
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    cycles[i] = gpu->sms[i].cycle;
  Probe own = {.user = order, .issued = note_issued}, *others = gpu_set_probes(gpu, &own);
  gpu->noisy = true;
  const WarpPlace *place = NULL;
  if (!alone)
    place = find_order(order);
  else if (run_alone(order, alone, RECURRENCE_WINDOW))
    place = alone;
  gpu->alone = NULL;
  gpu_set_probes(gpu, others);
  gpu->counters = counters;
  gpu->cycle = cycle;
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    gpu->sms[i].cycle = cycles[i];
  g_string_truncate(gpu->printed, printed);
  return place;
}

/* Where no order of steps helps. */
static const char *repair_of(const Order *order) {
  return order->in_step ? lanes_repair : order->counts ? counts_repair : changes_repair;
}

Finding *livelock_report(Gpu *gpu, bool *ends) {
  Order order = {.gpu = gpu, .warps = list_warps(gpu)};
  Finding *finding = NULL;
  if (order.warps->len) {
    g_autofree uint32_t *pcs = g_new(uint32_t, order.warps->len);
    for (guint i = 0; i < order.warps->len; i++)
      pcs[i] = g_array_index(order.warps, WarpPlace, i).warp->pc;
    const WarpPlace *place = try_orders(&order, NULL);
    *ends = place != NULL;
    guint number = place ? (guint)(place - &g_array_index(order.warps, WarpPlace, 0)) : 0;
    finding =
        start_finding(gpu, &g_array_index(order.warps, WarpPlace, number), pcs[number],
                      place ? "the same states recur without progress; in another order of steps this warp finishes"
                            : "the same states recur without progress, and in no order of warps that was tried does "
                              "one of them finish");
    finding->repair =
        g_strdup(place ? "break the symmetry: give the contenders an order, or back off by different times"
                       : repair_of(&order));
    if (place)
      add_steps(&order, finding, place);
    else
      standing_add_unstarted(gpu, finding);
  }
  g_array_free(order.warps, TRUE);
  return finding;
}

Finding *livelock_report_alone(Gpu *gpu, const Warp *warp, bool in_step) {
  Order order = {.gpu = gpu, .warps = list_warps(gpu)};
  Finding *finding = NULL;
  for (guint i = 0; i < order.warps->len && !finding; i++) {
    const WarpPlace *place = &g_array_index(order.warps, WarpPlace, i);
    if (place->warp != warp)
      continue;
    finding =
        start_finding(gpu, place, warp->pc,
                      "the same states recur for ever; no other order of steps exists, since nobody else can go "
                      "on before this warp does");
    if (!in_step)
      try_orders(&order, place);
    order.in_step |= in_step;
    finding->repair = g_strdup(repair_of(&order));
  }
  g_array_free(order.warps, TRUE);
  return finding;
}

/* The word that the finding is about was taken since then, by a compare-and-swap or an exchange. */
static bool was_taken(const Gpu *gpu, const Finding *finding, uint64_t since) {
  if (g_strcmp0(finding->space, "global") != 0)
    return false;
  WordChange change = look_global_change(gpu, finding->address);
  if (thread_is_none(change.thread) || thread_is_host(change.thread) || change.cycle < since)
    return false;
  const Inst *inst = &gpu_launch(gpu, change.thread.launch)->kernel->insts[change.pc];
  return op_info[inst->op].flags & OPF_ATOMIC && tries(inst);
}

bool livelock_takes_all(const Gpu *gpu, const GPtrArray *findings, guint count, uint64_t since) {
  bool all = count > 0;
  for (guint i = 0; i < count && all; i++)
    all = was_taken(gpu, g_ptr_array_index(findings, i), since);
  return all;
}

/* "lane 3 of warp 2 of block 0 gave it the value 1 in cycle 900". NULL: nobody changed it. Free with g_free. */
static char *change_text(const Gpu *gpu, const CircleWord *word) {
  WordChange change =
      word->sm ? look_shared_change(word->sm, (uint32_t)word->address / 4) : look_global_change(gpu, word->address);
  uint32_t value = word->sm ? look_shared(word->sm, (uint32_t)word->address / 4) : look_global(gpu, word->address);
  if (thread_is_none(change.thread))
    return NULL;
  g_autofree char *who = locate_thread_text(gpu, change.thread), *when = locate_change_text(gpu, &change);
  g_autofree char *number = number_text(value);
  return g_strdup_printf("%s gave it the value %s in %s", who, number, when);
}

static void add_word(const Gpu *gpu, Finding *finding, const CircleWord *word) {
  g_autofree char *where =
      word->sm ? locate_shared_text(word->block, (uint32_t)word->address) : locate_global_text(gpu, word->address);
  g_autofree char *change = change_text(gpu, word);
  locate_evidence(finding, word->launch, word->pc,
                  g_strdup_printf("%u thread%s %s %s%s%s", word->threads, word->threads == 1 ? "" : "s",
                                  word->atomic ? "try again and again for" : "look again and again at", where,
                                  change ? "; " : "", change ? change : ""));
}

Finding *livelock_report_circle(const Gpu *gpu, const Circle *circle) {
  g_autoptr(GArray) warps = list_warps(gpu);
  uint64_t threads = 0;
  const WarpPlace *place = NULL;
  for (guint i = warps->len; i-- > 0;) {
    const WarpPlace *at = &g_array_index(warps, WarpPlace, i);
    bool runs = at->warp->state == WARP_RUNNING;
    threads += runs ? bits_count(at->lanes) : 0;
    place = runs ? at : place;
  }
  const CircleWord *first = circle->words->len ? &g_array_index(circle->words, CircleWord, 0) : NULL;
  char *message = g_strdup_printf(
      "%s, and all warps that can go on, of %" G_GUINT64_FORMAT
      " threads, look at the same words again and again; in no order of steps does one of "
      "them finish",
      circle->words_change ? "words of memory change between the same values" : "no word of memory changes any more",
      threads);
  Finding *finding = locate_finding(FINDING_LIVELOCK, message, first ? first->launch : place->launch,
                                    first ? first->pc : place->warp->pc);
  finding->cycle = gpu->cycle;
  for (guint i = 0; i < MIN(circle->words->len, (guint)STEPS_SHOWN); i++)
    add_word(gpu, finding, &g_array_index(circle->words, CircleWord, i));
  standing_add_unstarted(gpu, finding);
  finding->repair = g_strdup(changes_repair);
  return finding;
}
