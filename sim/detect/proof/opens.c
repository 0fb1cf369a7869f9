#include "sim/detect/proof/opens.h"

#include "sim/core/barrier.h"
#include "sim/detect/proof/explore_groups.h"
#include "sim/detect/proof/reduction.h"

/* True if the block may complete it, as far as it is its own. */
static bool block_completes(const WarpView *of_block, uint32_t id) {
  const Block *block = of_block->block;
  Barrier best = block->barrier[id]; /* with all that may come */
  uint32_t fewest = best.open ? best.expected : 0, unfinished = barrier_unfinished(block);
  bool uncounted = best.open && !best.expected;
  of_block->of_block->asked |= 1u << of_block->warp->warp_in_block;
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
    if (view_may_finish(view))
      unfinished &= ~(1u << i);
  }
  best.expected = fewest;
  bool opens = fewest && barrier_completes(&best, unfinished);
  best.expected = 0;
  return opens || (uncounted && barrier_completes(&best, unfinished));
}

bool explorer_barrier_opens(const WarpView *of_block, uint32_t id) {
  const Block *block = of_block->block;
  if (id == CLUSTER_BARRIER && of_block->launch->cluster_blocks > 1)
    return !block->cluster || g_hash_table_contains(of_block->clusters, block->cluster);
  if (id == GRID_BARRIER)
    return of_block->launch->index < of_block->meets->len &&
           g_array_index(of_block->meets, bool, of_block->launch->index);
  return block_completes(of_block, id);
}

/* Some SM has room for one more block: it may be on its way there. */
static bool some_room(const Gpu *gpu, const Launch *launch) {
  if (gpu->used_sms < gpu->machine->gpu.sms)
    return true;
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    if (sm_has_room(&gpu->sms[i], launch))
      return true;
  return false;
}

/* True if no block of the launch is seen to stay away from SYNCBLOCKS: none has exited, each that is resident may
 * come, and the others have room. (Where they could start only when some block exits, the proof ends as soon as one
 * may.) */
static bool blocks_may_meet(const Explorer *explorer, const Launch *launch) {
  if (launch->finished_blocks || (launch->next_block < launch->blocks && !some_room(explorer->gpu, launch)))
    return false;
  for (guint i = 0; i < explorer->views->len; i++) {
    const WarpView *view = g_ptr_array_index(explorer->views, i);
    if (view->launch == launch && !block_completes(view, GRID_BARRIER))
      return false;
  }
  return true;
}

/* The warp has arrived at the barrier of its cluster, or may, or may exit. */
static bool may_meet_cluster(const WarpView *view) {
  return view->block->barrier[CLUSTER_BARRIER].arrived >> view->warp->warp_in_block & 1 || view_may_finish(view) ||
         explore_groups_may_arrive(view, CLUSTER_BARRIER);
}

/* No warp of the cluster is seen to stay away from its barrier. Only those that haven't exited have views. */
static bool cluster_may_meet(const Explorer *explorer, const Cluster *cluster) {
  for (guint i = 0; i < explorer->views->len; i++) {
    const WarpView *view = g_ptr_array_index(explorer->views, i);
    if (view->block->cluster == cluster && !may_meet_cluster(view))
      return false;
  }
  return true;
}

static void wake_cluster(Explorer *explorer, const Cluster *cluster) {
  for (guint i = 0; i < explorer->views->len; i++) {
    WarpView *view = g_ptr_array_index(explorer->views, i);
    if (view->block->cluster == cluster)
      view_wake(explorer, view);
  }
}

/* The same for the clusters' barriers. */
static bool update_clusters(Explorer *explorer) {
  bool news = false;
  for (guint i = 0; i < explorer->gpu->clusters->len; i++) {
    Cluster *cluster = g_ptr_array_index(explorer->gpu->clusters, i);
    if (g_hash_table_contains(explorer->clusters, cluster) || !cluster_may_meet(explorer, cluster))
      continue;
    g_hash_table_add(explorer->clusters, cluster);
    wake_cluster(explorer, cluster);
    news = true;
  }
  return news;
}

bool view_update_meets(Explorer *explorer) {
  bool news = update_clusters(explorer);
  for (guint i = 0; i < explorer->meets->len; i++) {
    bool *meets = &g_array_index(explorer->meets, bool, i);
    if (*meets || !blocks_may_meet(explorer, gpu_launch(explorer->gpu, i)))
      continue;
    *meets = news = true;
    for (guint j = 0; j < explorer->views->len; j++) {
      WarpView *view = g_ptr_array_index(explorer->views, j);
      if (view->launch->index == i)
        view_wake(explorer, view);
    }
  }
  return news;
}

/* An entry opens once no lane above it is sure to stay above it. */
bool view_update_open(WarpView *view) {
  bool changed = false;
  for (uint32_t entry = view->warp->depth; entry-- > 0;) {
    bool open = true;
    for (uint32_t rest = view->warp->alive; rest && open; rest &= rest - 1) {
      const LaneReach *reach = &view->reach[__builtin_ctz(rest)];
      open = reach->may_exit || reach->lowest_entry <= entry;
    }
    if (!open)
      return changed; /* what lies below stays closed too */
    changed |= !view->entry_open[entry];
    view->entry_open[entry] = 1;
  }
  return changed;
}

/* What a BAR.RED writes comes when the barrier completes, to those that the guard didn't leave out. */
static void take_result(const WarpView *view, const LanePlace *place, LaneState *state) {
  const Kernel *kernel = view->launch->kernel;
  const Inst *inst = &kernel->insts[place->barrier_pc];
  bool guard = inst->guard == PRED_TRUE || (state->preds >> inst->guard & 1);
  if (inst->op != OP_BAR || inst->mode < BAR_RED_POPC || guard == (bool)(inst->flags & INST_GUARD_NOT))
    return;
  Reduced reduced = reduction_of_waiters(view, place->barrier, (BarMode)inst->mode);
  if (inst->mode == BAR_RED_POPC && (uint32_t)inst->dst < kernel->nregs) {
    lane_state_set_range(state, (unsigned)inst->dst, reduced.low, reduced.high);
  } else if (inst->mode != BAR_RED_POPC) {
    uint32_t predicate = inst_pred_writes(inst) & ~(1u << PRED_SINK);
    state->preds &= ~predicate;
    state->preds_unknown |= reduced.may[0] && reduced.may[1] ? predicate : 0;
    state->preds |= reduced.may[0] ? 0 : predicate;
  }
}

/* Where a lane of a warp with a SIMT stack goes on from. */
static LanePlace stack_place(const WarpView *view, unsigned lane) {
  const Warp *warp = view->warp;
  int entry = explorer_waiting_entry(view, lane);
  if (entry >= 0)
    return (LanePlace){.pc = warp->stack[entry].pc, .level = (uint32_t)entry};
  return (LanePlace){.pc = warp->pc,
                     .level = warp->depth,
                     .barrier_pc = warp->barrier_pc,
                     .barrier = warp->barrier,
                     .at_barrier = warp->state == WARP_AT_BARRIER && warp->barrier_mask >> lane & 1};
}

static bool stack_lane_runs(const WarpView *view, unsigned lane) {
  const Warp *warp = view->warp;
  int entry = explorer_waiting_entry(view, lane);
  if (entry >= 0)
    return view->entry_open[entry];
  return warp->state != WARP_AT_BARRIER || explorer_barrier_opens(view, warp->barrier);
}

/* The same with lane groups. */
static LanePlace group_place(const WarpView *view, unsigned lane) {
  const LaneGroup *group = explore_group_of(view, lane);
  if (!group)
    return (LanePlace){.pc = view->warp->pc};
  return (LanePlace){.pc = group->pc + (group->state != GROUP_READY && group->state != GROUP_YIELDED),
                     .at_barrier = group->state == GROUP_AT_BARRIER,
                     .barrier_pc = group->pc,
                     .barrier = group->which};
}

static bool group_lane_runs(const WarpView *view, unsigned lane) {
  const LaneGroup *group = explore_group_of(view, lane);
  return !group || ((explore_lanes_together(view->warp) >> lane & 1 || explore_turn_comes(view)) &&
                    !explore_group_misses(view, group) &&
                    (group->state != GROUP_AT_BARRIER || explorer_barrier_opens(view, group->which)));
}

bool explorer_lane_runs(const WarpView *view, unsigned lane) {
  return view->warp->groups ? group_lane_runs(view, lane) : stack_lane_runs(view, lane);
}

uint32_t explorer_start_pc(const WarpView *view, unsigned lane) {
  return (view->warp->groups ? group_place(view, lane) : stack_place(view, lane)).pc;
}

void explorer_start(const WarpView *view, unsigned lane, LaneState *start) {
  const Warp *warp = view->warp;
  LanePlace place = warp->groups ? group_place(view, lane) : stack_place(view, lane);
  *start = (LaneState){.pc = place.pc, .level = place.level};
  for (uint32_t reg = 0; reg < view->launch->kernel->nregs; reg++)
    start->regs[reg] = flights_register(&view->sm->flights, warp, reg, lane);
  for (uint32_t predicate = 0; predicate < PRED_ROWS; predicate++)
    start->preds |= (warp->pred[predicate] >> lane & 1) << predicate;
  if (place.at_barrier)
    take_result(view, &place, start);
}
