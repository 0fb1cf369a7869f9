/* Votes, shuffles and block barriers: what needs the other lanes. */
#include "sim/core/barrier.h"
#include "sim/detect/proof/explore_step.h"
#include "sim/detect/proof/opens.h"

void explore_vote(LaneWalk *walk, LaneState *state, const Inst *inst) {
  VoteSet *votes = abstract_vote(&walk->explorer->memory, walk->view->warp, walk->view->sm, state->pc);
  walk->effects.of_warp = true;
  bool mine = explore_source_predicate(state, inst, 0);
  uint32_t others = ~(1u << walk->lane);
  if (inst->flags & INST_HAS_MASK && !slot_unknown(state, inst->a))
    others &= slot_value(walk, state, inst->a);
  uint32_t *said = mine ? &votes->may_true : &votes->may_false;
  if (read_only(walk) && keeps_stores(walk))
    *said |= 1u << walk->lane;
  else
    explore_come_to(walk, said);
  bool others_true = votes->may_true & others, others_false = votes->may_false & others;
  if (is_any_lane(walk))
    others_true = others_false = true;
  bool may_true, may_false;
  switch ((VoteMode)inst->mode) {
  case VOTE_ANY:
    may_true = mine || others_true;
    may_false = !mine;
    break;
  case VOTE_ALL:
    may_true = mine;
    may_false = !mine || others_false;
    break;
  default:
    may_true = true;
    may_false = mine ? others_false : others_true;
    break;
  }
  for (int outcome = 0; outcome < 2; outcome++) {
    if (!(outcome ? may_true : may_false))
      continue;
    LaneSpace after;
    lane_state_copy(&after.state, state, walk_nregs(walk));
    explore_forget_writes(walk, &after.state, inst); /* a ballot depends on all lanes */
    explore_set_predicate(&after.state, inst->pdst, outcome);
    explore_go_on(walk, &after.state, inst, state->pc + 1);
  }
}

/* What other lanes hold isn't known here. */
void explore_shuffle(LaneWalk *walk, LaneState *state, const Inst *inst) {
  explore_forget_writes(walk, state, inst);
  explore_go_on(walk, state, inst, state->pc + 1);
}

/* True if arrivals that may come to the barrier give counts that don't go with this one. */
static bool counts_clash(const WarpView *view, uint32_t id, uint32_t count) {
  const Block *block = view->block;
  const Barrier *barrier = &block->barrier[id];
  bool clash = barrier->open && !barrier_counts_agree(block->warps, barrier->expected, count);
  view->of_block->asked |= 1u << view->warp->warp_in_block;
  for (uint32_t i = 0; i < block->warps; i++) {
    const WarpView *other = view->of_block->warp[i];
    if (!other)
      continue;
    clash |= other->fewest[id] && !barrier_counts_agree(block->warps, other->fewest[id], count);
    clash |= other->most[id] && !barrier_counts_agree(block->warps, other->most[id], count);
    clash |= other->uncounted >> id & 1 && !barrier_counts_agree(block->warps, 0, count);
  }
  return clash;
}

/* Notes that a lane may arrive. `count` is 0 without a thread count. */
static void arrive_at_barrier(LaneWalk *walk, uint32_t id, uint32_t count, const Inst *inst) {
  bool signal = inst->mode == BAR_ARV;
  WarpView *view = walk->view;
  uint32_t id_bit = 1u << id, fewest = view->fewest[id];
  fewest = count && (!fewest || count < fewest) ? count : fewest;
  bool news = (signal && !(view->signals & id_bit)) || fewest != view->fewest[id] || count > view->most[id] ||
              (!count && !(view->uncounted & id_bit));
  view->signals |= signal ? id_bit : 0;
  view->fewest[id] = fewest;
  view->most[id] = MAX(view->most[id], count);
  view->uncounted |= count ? 0 : id_bit;
  if (news)
    view_wake_block(walk->explorer, view);
  if (!signal)
    explore_come_to(walk, &view->arrives[id]);
}

/* True if another lane of the warp may come to this BAR with other operands. */
static bool operands_clash(LaneWalk *walk, uint32_t pc, uint32_t id, uint32_t count) {
  GArray *bars = walk->view->bars;
  bool known = false, clash = false;
  for (guint i = 0; i < bars->len; i++) {
    const BarOperands *bar = &g_array_index(bars, BarOperands, i);
    bool same = bar->id == id && bar->count == count;
    known |= bar->pc == pc && bar->lane == walk->lane && same;
    clash |= bar->pc == pc && bar->lane != walk->lane && !same;
  }
  if (!known && !read_only(walk)) {
    BarOperands bar = {.pc = pc, .lane = walk->lane, .id = id, .count = count};
    g_array_append_val(bars, bar);
    view_wake(walk->explorer, walk->view);
  }
  return clash;
}

void explore_barrier(LaneWalk *walk, LaneState *state, const Inst *inst) {
  WarpView *view = walk->view;
  bool has_count = inst->flags & INST_HAS_COUNT;
  if (slot_unknown(state, inst->a) || (has_count && slot_unknown(state, inst->b))) {
    walk->explorer->gave_up = true;
    return;
  }
  uint32_t id = slot_value(walk, state, inst->a), count = has_count ? slot_value(walk, state, inst->b) : 0;
  if (!barrier_exists(walk->explorer->gpu->machine, id) || (has_count && !barrier_counts_warps(count))) {
    explore_fault(walk);
    return;
  }
  bool from_registers = inst->a >= 0 || (has_count && inst->b >= 0);
  walk->effects.of_warp = true;
  walk->effects.of_lane |= from_registers;
  if ((from_registers && operands_clash(walk, state->pc, id, count)) || counts_clash(view, id, count))
    explore_fault(walk);
  if (!read_only(walk))
    arrive_at_barrier(walk, id, count, inst);
  if (inst->mode == BAR_ARV) {
    explore_go_on(walk, state, inst, state->pc + 1);
    return;
  }
  walk->reach.block_barriers |= 1u << id;
  if (!assumes_all_open(walk) && !explorer_barrier_opens(view, id))
    return;
  explore_forget_writes(walk, state, inst);
  explore_go_on(walk, state, inst, state->pc + 1);
}
