#include "sim/detect/proof/explore.h"

#include "sim/core/look.h"
#include "sim/detect/proof/explore_groups.h"
#include "sim/detect/proof/explore_step.h"
#include "sim/detect/proof/host_proof.h"
#include "sim/detect/proof/lane_memo.h"

static void facts_free(gpointer data) {
  KernelFacts *facts = data;
  state_set_clear(&facts->states);
  liveness_clear(&facts->liveness);
  needed_bits_clear(&facts->needed);
  g_free(facts->reads);
  g_free(facts->leaders);
  g_array_free(facts->meetings, TRUE);
  g_free(facts);
}

WarpView *explorer_add_view(Explorer *explorer, Sm *sm, Warp *warp) {
  WarpView *view = view_add(explorer, sm, warp);
  if (warp->groups)
    explore_groups_init(view);
  return view;
}

/* Views of all warps that haven't finished. */
static void add_views(Explorer *explorer) {
  Gpu *gpu = explorer->gpu;
  for (uint32_t i = 0; i < gpu->used_sms; i++) {
    if (!gpu->sms[i].ready)
      continue;
    guint first = explorer->views->len;
    for (uint32_t slot = 0; slot < gpu->sms[i].warp_slots; slot++) {
      Warp *warp = &gpu->sms[i].warps[slot];
      if (warp->state == WARP_RUNNING || warp->state == WARP_AT_BARRIER)
        explorer_add_view(explorer, &gpu->sms[i], warp);
    }
    explore_flights_add(explorer, &gpu->sms[i], first);
  }
  explorer->steps += explorer->views->len;
}

Explorer *explorer_new(Gpu *gpu) {
  Explorer *explorer = g_new0(Explorer, 1);
  explorer->gpu = gpu;
  abstract_memory_init(&explorer->memory, gpu);
  explorer->copies = copies_new(gpu);
  explorer->views = g_ptr_array_new_with_free_func(view_free);
  explorer->meets = g_array_new(FALSE, TRUE, sizeof(bool));
  explorer->clusters = g_hash_table_new(g_direct_hash, g_direct_equal);
  g_array_set_size(explorer->meets, gpu->launches->len);
  explorer->blocks = g_hash_table_new(NULL, NULL);
  explorer->facts = g_hash_table_new_full(NULL, NULL, NULL, facts_free);
  explorer->changes = g_array_new(FALSE, FALSE, sizeof(LaneChange));
  explorer->adds = g_array_new(FALSE, FALSE, sizeof(LaneAdds));
  explorer->effects = (WalkEffects){.masks = g_ptr_array_new(), .words = g_array_new(FALSE, FALSE, sizeof(WordSeen))};
  explorer->memo = lane_memo_new();
  explorer->scratch_rows = g_new0(uint32_t, (REGSET_MAX + SINK_ROWS) * WARP_LANES);
  add_views(explorer);
  return explorer;
}

void explorer_restart(Explorer *explorer) {
  lane_memo_clear(explorer->memo);
  g_queue_clear(&explorer->queue);
  g_hash_table_remove_all(explorer->blocks);
  g_ptr_array_set_size(explorer->views, 0);
  abstract_memory_clear(&explorer->memory);
  abstract_memory_init(&explorer->memory, explorer->gpu);
  copies_free(explorer->copies);
  explorer->copies = copies_new(explorer->gpu);
  explorer->seen = explorer->exchanged = NULL;
  g_clear_pointer(&explorer->host_added, g_free);
  explorer->steps = 0;
  explorer->gave_up = false;
  explorer->finisher = NULL;
  explorer->explores_all = false;
  g_array_set_size(explorer->meets, 0);
  g_hash_table_remove_all(explorer->clusters);
  g_array_set_size(explorer->meets, explorer->gpu->launches->len);
  add_views(explorer);
}

void explorer_free(Explorer *explorer) {
  if (!explorer)
    return;
  abstract_memory_clear(&explorer->memory);
  if (explorer->spare.words)
    abstract_memory_clear(&explorer->spare);
  copies_free(explorer->copies);
  g_queue_clear(&explorer->queue);
  g_ptr_array_free(explorer->views, TRUE);
  g_array_free(explorer->meets, TRUE);
  g_hash_table_destroy(explorer->clusters);
  g_hash_table_destroy(explorer->blocks);
  g_hash_table_destroy(explorer->facts);
  g_array_free(explorer->changes, TRUE);
  g_array_free(explorer->adds, TRUE);
  g_ptr_array_free(explorer->effects.masks, TRUE);
  g_array_free(explorer->effects.words, TRUE);
  lane_memo_free(explorer->memo);
  g_free(explorer->scratch_rows);
  g_free(explorer->host_added);
  g_free(explorer);
}

void explorer_drop_views(Explorer *explorer, guint first) {
  for (guint i = first; i < explorer->views->len; i++) {
    const WarpView *view = g_ptr_array_index(explorer->views, i);
    g_hash_table_remove(explorer->blocks, view->block);
    g_queue_remove(&explorer->queue, view->of_block);
  }
  g_ptr_array_set_size(explorer->views, (gint)first);
}

/* ---- one lane ---- */

static bool out_of_budget(const Explorer *explorer) {
  return explorer->budget && explorer->steps >= explorer->budget;
}

/* Explores all states of a lane. */
static void walk_states(LaneWalk *walk, const LaneState *start, bool only_flights) {
  Explorer *explorer = walk->explorer;
  StateSet *states = &walk->view->facts->states;
  LaneSpace space;
  state_set_reset(states);
  lane_state_copy(&space.state, start, states->nregs);
  explore_take_flights(walk, &space.state, only_flights);
  states->roots = states->count;
  for (uint32_t next = 0; next < states->count && (walk->assumption || !explorer->gave_up); next++) {
    lane_state_copy(&space.state, state_set_at(states, next), states->nregs); /* the set grows */
    if (!walk->assumption)
      view_note_explored(walk->view, space.state.pc);
    states->from = next;
    walk->ended = false;
    explore_step(walk, &space.state);
    explorer->steps++;
    explorer->gave_up |= !walk->assumption && out_of_budget(explorer);
  }
  explorer->gave_up |= states->overflow;
}

static void begin_walk(LaneWalk *walk) {
  g_array_set_size(walk->changes, 0);
  g_ptr_array_set_size(walk->effects.masks, 0);
  g_array_set_size(walk->effects.words, 0);
}

/* Where numbers told apart (explore_few.c) make more states than a lane may show, they aren't. */
static void walk_lane(LaneWalk *walk, const LaneState *start, bool only_flights) {
  Explorer *explorer = walk->explorer;
  bool gave_up = explorer->gave_up;
  walk->reach.lowest_entry = start->level;
  begin_walk(walk);
  walk_states(walk, start, only_flights);
  if (walk->view->facts->states.overflow && walk->splits) {
    explorer->gave_up = gave_up;
    walk->vague = true;
    begin_walk(walk);
    walk_states(walk, start, only_flights);
  }
  explore_apply_changes(walk);
}

static LaneWalk walk_of(Explorer *explorer, WarpView *view, unsigned lane) {
  return (LaneWalk){.explorer = explorer,
                    .view = view,
                    .lane = lane,
                    .changes = explorer->changes,
                    .adds = explorer->adds,
                    .effects = explorer->effects};
}

/* Explores a lane of the proof, or finds one alike. */
static LaneReach prove_lane(Explorer *explorer, WarpView *view, unsigned lane, const LaneState *start) {
  LaneReach reach;
  if (lane_memo_repeat(explorer->memo, explorer, view, lane, start, &reach))
    return reach;
  LaneWalk walk = walk_of(explorer, view, lane);
  walk_lane(&walk, start, false);
  lane_memo_keep(explorer->memo, &walk, start);
  return walk.reach;
}

/* The lane goes on only once others have come; its accesses that are under way don't wait. */
static void prove_flights(Explorer *explorer, WarpView *view, unsigned lane, const LaneState *start) {
  LaneWalk walk = walk_of(explorer, view, lane);
  walk_lane(&walk, start, true);
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
  abstract_memory_layer(&explorer->memory, &layer->below, &explorer->spare);
  for (guint i = first; i < first + count; i++) {
    const WarpView *view = g_ptr_array_index(explorer->views, i);
    g_ptr_array_add(layer->shares, view->shares->len ? copy_shares(view->shares) : NULL);
  }
}

void explorer_pop_memory(Explorer *explorer, MemoryLayer *layer) {
  abstract_memory_unlayer(&explorer->memory, &explorer->spare);
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

/* A lane that is asked keeps nothing but its own memory: registers that it saves there, and where calls return to. */
static void walk_on_layer(LaneWalk *walk, const LaneState *start) {
  enum { PASSES_MAX = 16 };
  Explorer *explorer = walk->explorer;
  MemoryLayer layer;
  uint64_t version;
  unsigned passes = 0;
  explorer_push_memory(explorer, &layer, walk->view->index, 1);
  do {
    version = explorer->memory.version;
    walk_lane(walk, start, false);
  } while (explorer->memory.version != version && ++passes < PASSES_MAX);
  bool gave_up = explorer->gave_up;
  explorer_pop_memory(explorer, &layer);
  explorer->gave_up |= gave_up;
}

LaneReach explorer_lane(Explorer *explorer, WarpView *view, unsigned lane, const LaneState *start,
                        const Assumption *assumption, Footprint *footprint) {
  LaneWalk walk = walk_of(explorer, view, lane);
  walk.assumption = assumption;
  walk.footprint = footprint;
  if (view->launch->kernel->local_bytes && read_only(&walk) && !keeps_stores(&walk))
    walk_on_layer(&walk, start);
  else
    walk_lane(&walk, start, false);
  return walk.reach;
}

/* ---- the fixpoint ---- */

/* True if that is news. */
static bool add_reach(LaneReach *to, const LaneReach *reach) {
  LaneReach before = *to;
  to->may_exit |= reach->may_exit;
  to->may_fault |= reach->may_fault;
  to->lowest_entry = MIN(to->lowest_entry, reach->lowest_entry);
  to->block_barriers |= reach->block_barriers;
  to->may_switch |= reach->may_switch;
  to->meets_all |= reach->meets_all;
  to->says[0] |= reach->says[0];
  to->says[1] |= reach->says[1];
  to->calls_waiters |= reach->calls_waiters;
  to->may_yield |= reach->may_yield;
  bool meets = mask_set_join(&to->meets, &reach->meets);
  to->conv_barriers |= reach->conv_barriers;
  return to->may_exit != before.may_exit || to->may_fault != before.may_fault ||
         to->lowest_entry != before.lowest_entry || to->block_barriers != before.block_barriers ||
         to->may_switch != before.may_switch || to->meets_all != before.meets_all ||
         to->calls_waiters != before.calls_waiters || to->may_yield != before.may_yield || meets ||
         to->conv_barriers != before.conv_barriers;
}

/* Who read what has grown is to be explored again. */
static void wake_readers(Explorer *explorer) {
  GArray *woken = explorer->memory.woken;
  for (guint i = 0; i < woken->len; i++)
    view_wake(explorer, g_ptr_array_index(explorer->views, g_array_index(woken, uint32_t, i)));
  g_array_set_size(woken, 0);
}

static void prove_warp(Explorer *explorer, WarpView *view) {
  view->of_block->dirty &= ~(1u << view->warp->warp_in_block);
  do {
    lane_memo_next_warp(explorer->memo);
    for (uint32_t rest = view->warp->alive; rest; rest &= rest - 1) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      LaneSpace start;
      bool runs = explorer_lane_runs(view, lane);
      if (!runs && !explore_has_flights(view, lane))
        continue;
      explorer_start(view, lane, &start.state);
      if (!runs) {
        prove_flights(explorer, view, lane, &start.state);
        continue;
      }
      LaneReach reach = prove_lane(explorer, view, lane, &start.state);
      if (add_reach(&view->reach[lane], &reach))
        view_wake_block(explorer, view);
    }
  } while (view_update_open(view));
  wake_readers(explorer);
}

/* The warp of the block that is explored next: the dirty ones in turn. NULL: none is left. */
static WarpView *next_of_block(BlockView *of_block) {
  if (!of_block->dirty)
    return NULL;
  uint32_t later = of_block->next < BLOCK_WARPS_MAX ? of_block->dirty >> of_block->next << of_block->next : 0;
  uint32_t warp = (uint32_t)__builtin_ctz(later ? later : of_block->dirty);
  of_block->next = warp + 1;
  return of_block->warp[warp];
}

/* Explores the blocks in the queue until they are at rest, or some warp may finish: then true. */
static bool prove_blocks(Explorer *explorer) {
  while (!g_queue_is_empty(&explorer->queue)) {
    BlockView *of_block = g_queue_peek_head(&explorer->queue);
    for (WarpView *view; (view = next_of_block(of_block));) {
      prove_warp(explorer, view);
      explorer->gave_up |= stop_asked(explorer->gpu->stop) != STOP_NONE;
      if (explorer->gave_up)
        return false;
      if (!explorer->finisher && (view_may_finish(view) || view_may_fault(view)))
        explorer->finisher = view;
      if (explorer->finisher && !explorer->explores_all)
        return true;
    }
    g_queue_pop_head(&explorer->queue);
    of_block->queued = false;
  }
  return false;
}

void explorer_begin_with(Explorer *explorer, const ExploreFirst *first) {
  for (GList *at = first->known ? explorer->queue.head : NULL; at; at = at->next) {
    const BlockView *of_block = at->data;
    const Block *block = of_block->warp[__builtin_ctz(of_block->dirty)]->block;
    if (block->launch->index != first->launch || block->index != first->block)
      continue;
    g_queue_unlink(&explorer->queue, at);
    g_queue_push_head_link(&explorer->queue, at);
    return;
  }
}

ExploreFirst explorer_first(const Explorer *explorer) {
  const WarpView *view = explorer->finisher;
  return view ? (ExploreFirst){true, view->launch->index, view->block->index} : (ExploreFirst){false};
}

ExploreResult explorer_prove(Explorer *explorer) {
  uint64_t version;
  if (explorer->gave_up)
    return EXPLORE_UNPROVABLE;
  if (look_launch_ends(explorer->gpu) && !explorer->explores_all)
    return EXPLORE_LIVE;
  do {
    version = explorer->memory.version;
    if (host_may_write(explorer) && !explorer->explores_all)
      return EXPLORE_LIVE; /* a kernel may come */
    wake_readers(explorer);
    if (prove_blocks(explorer))
      return EXPLORE_LIVE;
    if (explorer->gave_up)
      return EXPLORE_UNPROVABLE;
  } while (explorer->memory.version != version || view_update_meets(explorer));
  return explorer->finisher ? EXPLORE_LIVE : EXPLORE_STUCK;
}

bool explorer_explore_all(Explorer *explorer) {
  explorer->explores_all = true;
  explorer_prove(explorer);
  return !explorer->gave_up;
}
