#include "sim/detect/race/race_trial.h"

#include "isa/flow/past.h"
#include "sim/detect/naming/locate.h"
#include "sim/detect/race/decides.h"

static void free_phases(gpointer data) {
  if (data)
    g_array_free(data, TRUE);
}

void race_trial_init(RaceTrial *trial, const Repair *repair) {
  *trial = (RaceTrial){.repair = repair};
  if (!repair)
    return;
  trial->marks = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
  trial->deciding = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
  trial->skipped = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
  trial->passed = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
  trial->phases = g_ptr_array_new_with_free_func(free_phases);
}

void race_trial_clear(RaceTrial *trial) {
  if (!trial->repair)
    return;
  g_hash_table_destroy(trial->marks);
  g_hash_table_destroy(trial->deciding);
  g_hash_table_destroy(trial->skipped);
  g_hash_table_destroy(trial->passed);
  g_ptr_array_unref(trial->phases);
}

static const uint8_t *marks_of(RaceTrial *trial, const Launch *launch) {
  uint8_t *marks = g_hash_table_lookup(trial->marks, launch->kernel);
  if (marks)
    return marks;
  marks = g_new0(uint8_t, launch->kernel->ninsts);
  for (unsigned i = 0; i < trial->repair->edits; i++) {
    const RepairEdit *edit = &trial->repair->edit[i];
    for (uint32_t pc = 0; g_strcmp0(edit->kernel, launch->kernel->name) == 0 && pc < launch->kernel->ninsts; pc++)
      marks[pc] |= locate_is_alike(launch, edit->pc, pc) ? 1u << i : 0;
  }
  g_hash_table_insert(trial->marks, (gpointer)launch->kernel, marks);
  return marks;
}

/* A load of a search decides less: what comes behind the search does so whatever it found, unless it depends on
 * that; and another round looks elsewhere, whoever changed what. */
static void judge_searches(const Kernel *kernel, const bool *accesses, uint8_t *deciding) {
  g_autoptr(Cfg) cfg = cfg_new(kernel);
  g_autoptr(SearchLoops) loops = search_loops_find(kernel, cfg);
  if (!loops->head->len)
    return;
  g_autofree bool *at_once = decides_find(kernel, accesses, false, loops);
  g_autofree bool *by_stores = decides_find(kernel, accesses, true, loops);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    if (search_loops_round(loops, cfg->block_of[pc]))
      deciding[pc] = at_once[pc] ? DECIDES_AT_ONCE : by_stores[pc] ? DECIDES_BY_STORES : DECIDES_NOTHING;
}

static uint8_t *find_deciding(const Kernel *kernel, const uint8_t *marks) {
  uint8_t *deciding = g_new0(uint8_t, kernel->ninsts);
  g_autofree bool *accesses = g_new0(bool, kernel->ninsts);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    accesses[pc] = marks[pc];
  g_autofree bool *at_once = decides_find(kernel, accesses, false, NULL);
  g_autofree bool *by_stores = decides_find(kernel, accesses, true, NULL);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    deciding[pc] = at_once[pc] ? DECIDES_AT_ONCE : by_stores[pc] ? DECIDES_BY_STORES : DECIDES_NOTHING;
  judge_searches(kernel, accesses, deciding);
  return deciding;
}

static Decides counts(void *user, const Launch *launch, uint32_t pc) {
  RaceTrial *trial = user;
  uint8_t *deciding = g_hash_table_lookup(trial->deciding, launch->kernel);
  if (!deciding) {
    deciding = find_deciding(launch->kernel, marks_of(trial, launch));
    g_hash_table_insert(trial->deciding, (gpointer)launch->kernel, deciding);
  }
  return (Decides)deciding[pc];
}

OrderDoubt race_trial_doubt(RaceTrial *trial) {
  bool doubts = trial->repair && trial->repair->edit[0].kind == EDIT_NOTHING;
  return (OrderDoubt){.counts = doubts ? counts : NULL, .user = trial};
}

static GArray *phases_of(const RaceTrial *trial, uint32_t actor) {
  return actor < trial->phases->len ? g_ptr_array_index(trial->phases, actor) : NULL;
}

/* Some lane of the warp that has exited went past what is put in, or beside it, so that it can't stand here. */
static bool is_skipped(RaceTrial *trial, const ProbePoint *point) {
  const Launch *launch = point->block->launch;
  bool found = false;
  for (uint32_t rest = point->warp->lanes & ~point->warp->alive; rest && !found; rest &= rest - 1) {
    uint32_t left = point->warp->left_from[__builtin_ctz(rest)];
    gint64 key = (gint64)((uint64_t)launch->index << 48 ^ (uint64_t)point->pc << 24 ^ left);
    gpointer known;
    if (!g_hash_table_lookup_extended(trial->skipped, &key, NULL, &known)) {
      known = GINT_TO_POINTER(past_skipped(launch->kernel, point->pc, left));
      g_hash_table_insert(trial->skipped, g_memdup2(&key, sizeof key), known);
    }
    found = GPOINTER_TO_INT(known) != PAST_EARLY;
  }
  return found;
}

/* Some lane of the warp has been here, left the loop and exited. */
static bool is_left(RaceTrial *trial, const WarpOrder *warp, const ProbePoint *point) {
  gint64 key = (gint64)((uint64_t)warp->actor << 32 | point->pc);
  uint32_t passed = GPOINTER_TO_UINT(g_hash_table_lookup(trial->passed, &key));
  if ((passed | point->lanes) != passed)
    g_hash_table_insert(trial->passed, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(passed | point->lanes));
  return passed & ~point->warp->alive;
}

static void pass_barrier(RaceTrial *trial, WarpOrder *warp, const ProbePoint *point) {
  trial->misplaced |= point->lanes != point->warp->alive;
  order_warp_sync(warp, ALL_LANES, ALL_LANES); /* a new time begins */
  if (trial->phases->len <= warp->actor)
    g_ptr_array_set_size(trial->phases, (gint)warp->actor + 1);
  GArray **phases = (GArray **)&g_ptr_array_index(trial->phases, warp->actor);
  if (!*phases)
    *phases = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  g_array_append_val(*phases, warp->time);
}

static bool is_behind(EditKind kind) {
  return kind == EDIT_FENCE_BEHIND || kind == EDIT_SC_FENCE_BEHIND || kind == EDIT_WARP_SYNC_BEHIND ||
         kind == EDIT_BARRIER_BEHIND;
}

static bool brings_together(EditKind kind) {
  return kind == EDIT_WARP_SYNC_BEFORE || kind == EDIT_WARP_SYNC_BEHIND || kind == EDIT_BARRIER_BEFORE ||
         kind == EDIT_BARRIER_BEHIND;
}

bool race_trial_takes_older(RaceTrial *trial, const Launch *launch, uint32_t pc, uint32_t value) {
  return race_trial_asks_older(trial) && trial->repair->edit[0].value == value && marks_of(trial, launch)[pc];
}

void race_trial_access(RaceTrial *trial, RaceOrder *order, WarpOrder *warp, const ProbePoint *point, bool behind) {
  uint8_t marks = marks_of(trial, point->block->launch)[point->pc];
  for (unsigned i = 0; marks >> i; i++) {
    const RepairEdit *edit = &trial->repair->edit[i];
    if (!(marks >> i & 1) || is_behind(edit->kind) != behind)
      continue;
    if (brings_together(edit->kind))
      trial->misplaced |= is_skipped(trial, point) || is_left(trial, warp, point);
    switch (edit->kind) {
    case EDIT_NOTHING:
    case EDIT_OLDER: break;
    case EDIT_SC_FENCE_BEFORE:
    case EDIT_SC_FENCE_BEHIND:
      order_fence_strictly(warp, ON_ONE_GPU);
      order_fence(warp, ON_ONE_GPU, point->pc, point->lanes);
      order_end_fence(order, warp);
      break;
    case EDIT_FENCE_BEFORE:
    case EDIT_FENCE_BEHIND:
      order_fence(warp, edit->in_block ? IN_ONE_BLOCK : ON_ONE_GPU, point->pc, point->lanes);
      break;
    case EDIT_WARP_SYNC_BEFORE:
    case EDIT_WARP_SYNC_BEHIND: order_warp_sync(warp, point->lanes, point->warp->alive); break;
    case EDIT_BARRIER_BEFORE:
    case EDIT_BARRIER_BEHIND: pass_barrier(trial, warp, point); break;
    }
  }
}

static unsigned phase_at(const RaceTrial *trial, uint32_t actor, uint32_t time) {
  const GArray *phases = phases_of(trial, actor);
  unsigned low = 0, high = phases ? phases->len : 0;
  while (low < high) {
    unsigned middle = (low + high) / 2;
    if (g_array_index(phases, uint32_t, middle) <= time)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

bool race_trial_orders(const RaceTrial *trial, const RaceOrder *order, const WarpOrder *warp, const Access *earlier) {
  return race_trial_has_phases(trial) && order_nearness(order, warp, earlier) == IN_ONE_BLOCK &&
         phase_at(trial, earlier->actor, earlier->time) != phase_at(trial, warp->actor, warp->time);
}

bool race_trial_fits(const RaceTrial *trial, const RaceOrder *order) {
  if (!trial->repair)
    return true;
  for (uint32_t i = 1; i < order->actors->len; i++) {
    const ThreadId *one = &g_array_index(order->actors, ThreadId, i - 1), *next = one + 1;
    const GArray *phases = phases_of(trial, i - 1), *others = phases_of(trial, i);
    if (thread_same_block(*one, *next) && (phases ? phases->len : 0) != (others ? others->len : 0))
      return false;
  }
  return !trial->misplaced;
}
