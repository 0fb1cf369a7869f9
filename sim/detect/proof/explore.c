#include "sim/detect/proof/explore.h"

#include "base/bits.h"
#include "sim/core/barrier.h"
#include "sim/detect/proof/explore_groups.h"
#include "sim/detect/proof/explore_step.h"
#include "sim/detect/proof/host_proof.h"

static void liveness_free(gpointer data) {
  liveness_clear(data);
  g_free(data);
}

static void states_free(gpointer data) {
  state_set_clear(data);
  g_free(data);
}

static void view_free(gpointer data) {
  WarpView *view = data;
  if (--view->of_block->users == 0)
    g_free(view->of_block);
  g_free(view->entry_open);
  g_free(view->explored);
  g_free(view->meet);
  g_free(view->ways);
  g_array_free(view->shares, TRUE);
  g_array_free(view->bars, TRUE);
  g_free(view);
}

Explorer *explorer_new(Gpu *gpu) {
  Explorer *explorer = g_new0(Explorer, 1);
  explorer->gpu = gpu;
  abstract_memory_init(&explorer->memory, gpu);
  explorer->copies = copies_new(gpu);
  explorer->views = g_ptr_array_new_with_free_func(view_free);
  explorer->blocks = g_hash_table_new(NULL, NULL);
  explorer->liveness = g_ptr_array_new_with_free_func(liveness_free);
  explorer->states = g_ptr_array_new_with_free_func(states_free);
  uint32_t rows = 1;
  for (guint i = 0; i < gpu->launches->len; i++) {
    const Kernel *kernel = gpu_launch(gpu, i)->kernel;
    Liveness *liveness = g_new(Liveness, 1);
    *liveness = cfg_liveness(kernel);
    g_ptr_array_add(explorer->liveness, liveness);
    StateSet *states = g_new(StateSet, 1);
    state_set_init(states, kernel, liveness);
    g_ptr_array_add(explorer->states, states);
    rows = MAX(rows, kernel->nregs + SINK_ROWS);
    explorer->gave_up |= kernel->nregs > REGSET_MAX;
  }
  explorer->changes = g_array_new(FALSE, FALSE, sizeof(LaneChange));
  explorer->scratch_rows = g_new0(uint32_t, rows * WARP_LANES);
  for (uint32_t i = 0; i < gpu->machine->gpu.sms; i++)
    for (uint32_t slot = 0; gpu->sms[i].ready && slot < gpu->machine->sm.max_warps; slot++) {
      Warp *warp = &gpu->sms[i].warps[slot];
      if (warp->state == WARP_RUNNING || warp->state == WARP_AT_BARRIER)
        explorer_add_view(explorer, &gpu->sms[i], warp);
    }
  return explorer;
}

void explorer_free(Explorer *explorer) {
  if (!explorer)
    return;
  abstract_memory_clear(&explorer->memory);
  copies_free(explorer->copies);
  g_ptr_array_free(explorer->views, TRUE);
  g_hash_table_destroy(explorer->blocks);
  g_ptr_array_free(explorer->states, TRUE);
  g_ptr_array_free(explorer->liveness, TRUE);
  g_array_free(explorer->changes, TRUE);
  g_free(explorer->scratch_rows);
  g_free(explorer->host_added);
  g_free(explorer);
}

int explorer_waiting_entry(const WarpView *view, unsigned lane) {
  const Warp *warp = view->warp;
  uint32_t bit = 1u << lane;
  if (warp->active & bit)
    return -1;
  for (int i = (int)warp->depth - 1; i >= 0; i--)
    if (warp->stack[i].mask & bit)
      return i;
  return -1;
}

/* Enters a view among those of its block. */
static void join_block(Explorer *explorer, WarpView *view) {
  BlockView *of_block = g_hash_table_lookup(explorer->blocks, view->block);
  if (!of_block) {
    of_block = g_new0(BlockView, 1);
    g_hash_table_insert(explorer->blocks, view->block, of_block);
  }
  of_block->warp[view->warp->warp_in_block] = view;
  of_block->users++;
  view->of_block = of_block;
}

WarpView *explorer_add_view(Explorer *explorer, Sm *sm, Warp *warp) {
  WarpView *view = g_new0(WarpView, 1);
  view->index = explorer->views->len;
  view->sm = sm;
  view->warp = warp;
  view->block = warp_block(sm, warp);
  view->launch = view->block->launch;
  view->liveness = g_ptr_array_index(explorer->liveness, view->launch->index);
  view->states = g_ptr_array_index(explorer->states, view->launch->index);
  view->entry_open = g_new0(uint8_t, warp->depth + 1);
  view->shares = g_array_new(FALSE, FALSE, sizeof(AddShare));
  view->bars = g_array_new(FALSE, FALSE, sizeof(BarOperands));
  view->explored = g_new0(uint8_t, view->launch->kernel->ninsts);
  view->ways = g_new0(uint8_t, view->launch->kernel->ninsts);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    int entry = explorer_waiting_entry(view, lane);
    view->reach[lane].lowest = entry < 0 ? warp->depth : (uint32_t)entry;
  }
  if (warp->groups) {
    view->meet = g_new0(uint32_t, view->launch->kernel->ninsts);
    explore_groups_init(view);
  }
  g_ptr_array_add(explorer->views, view);
  join_block(explorer, view);
  return view;
}

void explorer_drop_views(Explorer *explorer, guint first) {
  for (guint i = first; i < explorer->views->len; i++) {
    const WarpView *view = g_ptr_array_index(explorer->views, i);
    g_hash_table_remove(explorer->blocks, view->block);
  }
  g_ptr_array_set_size(explorer->views, (gint)first);
}

/* What a BAR.RED writes comes when the barrier completes. */
static void forget_barrier_result(const WarpView *view, uint32_t pc, LaneState *state) {
  const Kernel *kernel = view->launch->kernel;
  const Inst *inst = &kernel->insts[pc];
  RegList writes = inst_writes(inst, kernel->nregs);
  for (unsigned i = 0; i < writes.count; i++)
    if ((uint32_t)writes.reg[i] < kernel->nregs)
      regset_put(&state->unknown, (unsigned)writes.reg[i]);
  state->preds_unknown |= inst_pred_writes(inst) & ~(1u << PRED_SINK);
}

/* Where a lane of a warp with a SIMT stack goes on from. */
static LanePlace stack_place(const WarpView *view, unsigned lane) {
  const Warp *warp = view->warp;
  int entry = explorer_waiting_entry(view, lane);
  bool waits = warp->state == WARP_AT_BARRIER;
  LanePlace place = {.at_barrier = waits && warp->barrier_mask >> lane & 1, .barrier_pc = warp->barrier_pc};
  if (entry < 0) {
    place.pc = warp->pc;
    place.level = warp->depth;
    place.runs = !waits || explorer_barrier_opens(view, warp->barrier);
  } else {
    place.pc = warp->stack[entry].pc;
    place.level = (uint32_t)entry;
    place.runs = view->entry_open[entry];
  }
  return place;
}

bool explorer_start(const WarpView *view, unsigned lane, LaneState *start) {
  const Warp *warp = view->warp;
  LanePlace place = warp->groups ? explore_group_place(view, lane) : stack_place(view, lane);
  *start = (LaneState){.pc = place.pc, .level = place.level};
  for (uint32_t reg = 0; reg < view->launch->kernel->nregs; reg++)
    start->regs[reg] = warp->regs[reg * WARP_LANES + lane];
  for (uint32_t predicate = 0; predicate < PRED_ROWS; predicate++)
    start->preds |= (warp->pred[predicate] >> lane & 1) << predicate;
  if (place.at_barrier)
    forget_barrier_result(view, place.barrier_pc, start);
  return place.runs;
}

LaneReach explorer_lane(Explorer *explorer, WarpView *view, unsigned lane, const LaneState *start,
                        const Assumption *assumption, Footprint *footprint) {
  LaneWalk walk = {.explorer = explorer,
                   .view = view,
                   .lane = lane,
                   .assumption = assumption,
                   .footprint = footprint,
                   .changes = explorer->changes};
  LaneSpace space;
  g_array_set_size(walk.changes, 0);
  walk.reach.lowest = start->level;
  StateSet *states = view->states;
  state_set_reset(states);
  lane_state_copy(&space.state, start, states->nregs);
  explore_enter(&walk, &space.state);
  for (uint32_t next = 0; next < states->count; next++) {
    lane_state_copy(&space.state, state_set_at(states, next), states->nregs); /* the set grows */
    view->explored[space.state.pc] |= !assumption;
    states->from = next;
    explore_step(&walk, &space.state);
    explorer->steps++;
  }
  explore_apply_changes(&walk);
  explorer->gave_up |= states->overflow;
  return walk.reach;
}

/* ---- layers of memory ---- */

static GArray *copy_shares(const GArray *shares) {
  GArray *copy = g_array_sized_new(FALSE, FALSE, sizeof(AddShare), shares->len);
  return g_array_append_vals(copy, shares->data, shares->len);
}

void explorer_push_memory(Explorer *explorer, MemoryLayer *layer, guint first, guint count) {
  *layer = (MemoryLayer){.below = explorer->memory,
                         .first = first,
                         .count = count,
                         .shares = g_ptr_array_new(),
                         .gave_up = explorer->gave_up};
  abstract_memory_layer(&explorer->memory, &layer->below);
  for (guint i = first; i < first + count; i++) {
    const WarpView *view = g_ptr_array_index(explorer->views, i);
    g_ptr_array_add(layer->shares, view->shares->len ? copy_shares(view->shares) : NULL);
  }
}

void explorer_pop_memory(Explorer *explorer, MemoryLayer *layer) {
  abstract_memory_clear(&explorer->memory);
  explorer->memory = layer->below;
  explorer->gave_up = layer->gave_up;
  for (guint i = 0; i < layer->count; i++) {
    WarpView *view = g_ptr_array_index(explorer->views, layer->first + i);
    GArray *before = g_ptr_array_index(layer->shares, i);
    g_array_set_size(view->shares, 0);
    if (before) {
      g_array_append_vals(view->shares, before->data, before->len);
      g_array_free(before, TRUE);
    }
  }
  g_ptr_array_free(layer->shares, TRUE);
}

/* ---- the fixpoint ---- */

static bool may_finish(const WarpView *view) {
  for (uint32_t rest = view->warp->alive; rest; rest &= rest - 1)
    if (!view->reach[__builtin_ctz(rest)].exits)
      return false;
  return true;
}

static bool may_fault(const WarpView *view) {
  for (uint32_t rest = view->warp->alive; rest; rest &= rest - 1)
    if (view->reach[__builtin_ctz(rest)].faults)
      return true;
  return false;
}

bool explorer_barrier_opens(const WarpView *of_block, uint32_t id) {
  const Block *block = of_block->block;
  Barrier best = block->barrier[id]; /* with all that may come */
  uint32_t fewest = best.open ? best.expected : 0, unfinished = barrier_unfinished(block);
  bool uncounted = best.open && !best.expected;
  for (uint32_t rest = unfinished; rest; rest &= rest - 1) {
    unsigned i = (unsigned)__builtin_ctz(rest);
    const WarpView *view = of_block->of_block->warp[i];
    if (!view || view->signals >> id & 1 || (view->warp->groups && explore_groups_signalled(view, id)))
      return true; /* arrivals without waiting may come any number of times */
    bool may_arrive =
        view->warp->groups ? explore_groups_may_arrive(view, id) : !(best.waiting >> i & 1) && view->arrives[id];
    if (may_arrive) {
      uint32_t count = view->fewest[id];
      fewest = count && (!fewest || count < fewest) ? count : fewest;
      uncounted |= view->uncounted >> id & 1;
      best.threads += WARP_LANES;
      best.arrived |= 1u << i;
    }
    if (may_finish(view))
      unfinished &= ~(1u << i);
  }
  best.expected = fewest;
  bool opens = fewest && barrier_completes(&best, unfinished);
  best.expected = 0;
  return opens || (uncounted && barrier_completes(&best, unfinished));
}

/* An entry opens once no lane above it is sure to stay above it. */
static bool update_open(WarpView *view) {
  bool changed = false;
  for (uint32_t entry = view->warp->depth; entry-- > 0;) {
    bool open = true;
    for (uint32_t rest = view->warp->alive; rest && open; rest &= rest - 1) {
      const LaneReach *reach = &view->reach[__builtin_ctz(rest)];
      open = reach->exits || reach->lowest <= entry;
    }
    if (!open)
      return changed; /* what lies below stays closed too */
    changed |= !view->entry_open[entry];
    view->entry_open[entry] = 1;
  }
  return changed;
}

/* True if that is news. */
static bool add_reach(LaneReach *to, const LaneReach *reach) {
  LaneReach before = *to;
  to->exits |= reach->exits;
  to->faults |= reach->faults;
  to->lowest = MIN(to->lowest, reach->lowest);
  to->barriers |= reach->barriers;
  to->stops |= reach->stops;
  to->rejoins |= reach->rejoins;
  to->meets |= reach->meets;
  to->calls |= reach->calls;
  to->yields |= reach->yields;
  to->warpsyncs |= reach->warpsyncs;
  to->syncs |= reach->syncs;
  return to->exits != before.exits || to->faults != before.faults || to->lowest != before.lowest ||
         to->barriers != before.barriers || to->stops != before.stops || to->rejoins != before.rejoins ||
         to->meets != before.meets || to->calls != before.calls || to->yields != before.yields ||
         to->warpsyncs != before.warpsyncs || to->syncs != before.syncs;
}

/* All that a warp's exploration depends on is as it was when its newest one began: it would end alike. */
static bool would_repeat(const Explorer *explorer, const WarpView *view) {
  return view->was_explored && view->seen_version == explorer->memory.version &&
         view->seen_changes == view->of_block->changes;
}

static void explore_warp(Explorer *explorer, WarpView *view) {
  uint64_t steps = explorer->steps;
  if (would_repeat(explorer, view)) {
    explorer->steps += view->steps;
    return;
  }
  view->was_explored = true;
  view->seen_version = explorer->memory.version;
  view->seen_changes = view->of_block->changes;
  do {
    for (uint32_t rest = view->warp->alive; rest; rest &= rest - 1) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      LaneSpace start;
      if (!explorer_start(view, lane, &start.state))
        continue;
      LaneReach reach = explorer_lane(explorer, view, lane, &start.state, NULL, NULL);
      view->of_block->changes += add_reach(&view->reach[lane], &reach);
    }
  } while (update_open(view));
  view->steps = explorer->steps - steps;
}

/* What has been reached so far, as one number: it only grows. */
static uint64_t reach_sum(const Explorer *explorer) {
  uint64_t sum = 0;
  for (guint i = 0; i < explorer->views->len; i++) {
    const WarpView *view = g_ptr_array_index(explorer->views, i);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
      const LaneReach *reach = &view->reach[lane];
      sum += reach->exits + (view->warp->depth - MIN(reach->lowest, view->warp->depth)) +
             bits_count(reach->barriers) + reach->stops + reach->rejoins + reach->meets + reach->calls +
             reach->yields + reach->warpsyncs + bits_count(reach->syncs);
    }
  }
  return sum;
}

ExploreResult explorer_prove(Explorer *explorer) {
  uint64_t version, sum;
  if (explorer->gave_up)
    return EXPLORE_UNPROVABLE;
  do {
    version = explorer->memory.version;
    sum = reach_sum(explorer);
    if (host_may_write(explorer))
      return EXPLORE_LIVE; /* a kernel may come */
    for (guint i = 0; i < explorer->views->len; i++) {
      WarpView *view = g_ptr_array_index(explorer->views, i);
      explore_warp(explorer, view);
      if (explorer->gave_up)
        return EXPLORE_UNPROVABLE;
      if (may_finish(view) || may_fault(view)) {
        explorer->finisher = view;
        return EXPLORE_LIVE;
      }
    }
  } while (explorer->memory.version != version || reach_sum(explorer) != sum);
  return explorer->memory.unbounded ? EXPLORE_UNPROVABLE : EXPLORE_STUCK;
}
