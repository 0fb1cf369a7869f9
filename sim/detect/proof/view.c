#include "sim/detect/proof/view.h"

#include "sim/core/lane_groups.h"

void view_free(gpointer data) {
  WarpView *view = data;
  if (--view->of_block->users == 0)
    g_free(view->of_block);
  g_free(view->entry_open);
  g_free(view->explored);
  g_free(view->meet);
  g_free(view->ways);
  g_array_free(view->shares, TRUE);
  g_array_free(view->bars, TRUE);
  if (view->flights)
    g_ptr_array_free(view->flights, TRUE);
  g_free(view);
}

static RegSet registers_read(const Inst *inst) {
  RegSet set = {0};
  RegList reads = inst_reads(inst);
  for (unsigned i = 0; i < reads.count; i++)
    regset_put(&set, (unsigned)reads.reg[i]);
  return set;
}

static KernelFacts *facts_of(Explorer *explorer, const Kernel *kernel) {
  KernelFacts *facts = g_hash_table_lookup(explorer->facts, kernel);
  if (facts)
    return facts;
  facts = g_new0(KernelFacts, 1);
  facts->kernel = kernel;
  facts->liveness = cfg_liveness(kernel);
  facts->leaders = leaders_find(kernel, &facts->liveness);
  facts->needed = needed_bits(kernel);
  state_set_init(&facts->states, kernel, &facts->liveness, &facts->needed);
  facts->reads = g_new(RegSet, kernel->ninsts);
  facts->meetings = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    facts->reads[pc] = registers_read(&kernel->insts[pc]);
    if (kernel->insts[pc].op == OP_WARPSYNC && kernel->insts[pc].mode == WARPSYNC_ALL)
      g_array_append_val(facts->meetings, pc);
  }
  g_hash_table_insert(explorer->facts, (gpointer)kernel, facts);
  return facts;
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

WarpView *view_add(Explorer *explorer, Sm *sm, Warp *warp) {
  WarpView *view = g_new0(WarpView, 1);
  view->index = explorer->views->len;
  view->sm = sm;
  view->warp = warp;
  view->block = warp_block(sm, warp);
  view->launch = view->block->launch;
  view->meets = explorer->meets;
  view->clusters = explorer->clusters;
  view->facts = facts_of(explorer, view->launch->kernel);
  view->entry_open = g_new0(uint8_t, warp->depth + 1);
  view->shares = g_array_new(FALSE, FALSE, sizeof(AddShare));
  view->bars = g_array_new(FALSE, FALSE, sizeof(BarOperands));
  view->explored = g_new0(uint32_t, view->launch->kernel->ninsts / 32 + 1);
  view->ways = g_new0(uint32_t, view->launch->kernel->ninsts / 16 + 1);
  view->meet = g_new0(uint32_t, view->facts->meetings->len + 1);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    int entry = explorer_waiting_entry(view, lane);
    view->reach[lane].lowest_entry = entry < 0 ? warp->depth : (uint32_t)entry;
  }
  g_ptr_array_add(explorer->views, view);
  join_block(explorer, view);
  view_wake(explorer, view);
  explorer->gave_up |= view->launch->kernel->nregs > REGSET_MAX;
  return view;
}

void view_wake(Explorer *explorer, WarpView *view) {
  BlockView *of_block = view->of_block;
  of_block->dirty |= 1u << view->warp->warp_in_block;
  if (!of_block->queued)
    g_queue_push_tail(&explorer->queue, of_block);
  of_block->queued = true;
}

void view_wake_sm(Explorer *explorer, const Sm *sm) {
  explorer->memory.version++;
  for (guint i = 0; i < explorer->views->len; i++) {
    WarpView *view = g_ptr_array_index(explorer->views, i);
    if (view->sm == sm)
      view_wake(explorer, view);
  }
}

void view_wake_block(Explorer *explorer, WarpView *view) {
  view_wake(explorer, view);
  view->of_block->dirty |= view->of_block->asked;
}

void view_add_lanes(Explorer *explorer, WarpView *view, uint32_t *mask, uint32_t lanes) {
  if (!(lanes & ~*mask))
    return;
  *mask |= lanes;
  view_wake_block(explorer, view);
}

bool view_note_way(Explorer *explorer, WarpView *view, uint32_t pc, bool taken) {
  uint32_t way = taken ? 2 : 1;
  if (view_ways(view, pc) & way)
    return false;
  view->ways[pc / 16] |= way << pc % 16 * 2;
  view_wake(explorer, view);
  return true;
}

uint32_t *view_meeting(const WarpView *view, uint32_t pc) {
  const GArray *meetings = view->facts->meetings;
  guint i = 0;
  while (g_array_index(meetings, uint32_t, i) != pc)
    i++;
  return &view->meet[i];
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

bool view_may_finish(const WarpView *view) {
  for (uint32_t rest = view->warp->alive; rest; rest &= rest - 1)
    if (!view->reach[__builtin_ctz(rest)].may_exit)
      return false;
  return true;
}

bool view_may_fault(const WarpView *view) {
  for (uint32_t rest = view->warp->alive; rest; rest &= rest - 1)
    if (view->reach[__builtin_ctz(rest)].may_fault)
      return true;
  return false;
}
