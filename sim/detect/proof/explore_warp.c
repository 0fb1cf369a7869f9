/* Votes, shuffles and block barriers: what needs the other lanes. */
#include "sim/core/barrier.h"
#include "sim/core/lane_groups.h"
#include "sim/detect/proof/explore_step.h"
#include "sim/detect/proof/opens.h"
#include "sim/detect/proof/reduction.h"

/* All other lanes of its warp have exited, so it knows who votes. A mask of which nothing is known may leave it
 * out. */
static bool is_alone(const LaneWalk *walk, const LaneState *state, const Inst *inst) {
  bool knows_mask = !(inst->flags & INST_HAS_MASK) || !slot_unknown(state, inst->a);
  return walk->view->warp->alive == 1u << walk->lane && knows_mask && !is_any_lane(walk);
}

const SeenValues *explore_exchange_seen(LaneWalk *walk, uint32_t pc) {
  const WarpView *view = walk->view;
  const SeenLoads *seen = walk->explorer->seen ? walk->explorer->seen : walk->explorer->exchanged;
  bool behind = walk->assumption && walk->assumption->stores;
  bool of_circle = seen && (!seen->warp || seen->warp == view->warp) && !is_any_lane(walk) && !behind;
  walk->effects.of_lane |= of_circle;
  return of_circle ? seen_values(seen, view->sm, view->warp, walk->lane, pc, 0) : NULL;
}

/* The lane has voted: `ballot` is who said yes; NULL: that isn't known. */
static void take_vote(LaneWalk *walk, const LaneState *state, const Inst *inst, bool outcome,
                      const uint32_t *ballot) {
  LaneSpace after;
  lane_state_copy(&after.state, state, walk_nregs(walk));
  explore_forget_writes(walk, &after.state, inst);
  if (ballot && (uint32_t)inst->dst < walk_nregs(walk))
    explore_set_register(walk, &after.state, inst->dst, false, *ballot);
  explore_set_predicate(&after.state, inst->pdst, outcome);
  explore_go_on(walk, &after.state, inst, state->pc + 1);
}

/* A vote that is news is one to all other lanes of the warp. */
static void say_on_layer(LaneWalk *walk, uint32_t *said) {
  for (uint32_t rest = *said >> walk->lane & 1 ? 0 : walk->view->warp->alive & ~(1u << walk->lane); rest;
       rest &= rest - 1) {
    uint32_t reader = explore_lane_reader(walk->view, (unsigned)__builtin_ctz(rest));
    g_array_append_val(walk->explorer->memory.woken, reader);
  }
  *said |= 1u << walk->lane;
}

/* The ballots that the lane was seen to get. NULL: it may get any, for one where it votes otherwise than in all that
 * were seen, since something is assumed. */
static const SeenValues *ballots_seen(LaneWalk *walk, uint32_t pc, uint32_t own) {
  const SeenValues *ballots = explore_exchange_seen(walk, pc);
  bool like = !walk->assumption;
  for (uint32_t i = 0; ballots && i < ballots->count; i++)
    like |= (ballots->value[i] & 1u << walk->lane) == own;
  return like ? ballots : NULL;
}

void explore_vote(LaneWalk *walk, LaneState *state, const Inst *inst) {
  VoteSet *votes = abstract_vote(&walk->explorer->memory, walk->view->warp, walk->view->sm, state->pc);
  walk->effects.of_warp = true;
  bool mine = explore_source_predicate(state, inst, 0);
  uint32_t others = ~(1u << walk->lane), absent = 0;
  if (inst->flags & INST_HAS_MASK && !slot_unknown(state, inst->a))
    absent = ~slot_value(walk, state, inst->a);
  others &= ~absent;
  uint32_t *said = mine ? &votes->may_true : &votes->may_false;
  if (read_only(walk) && keeps_stores(walk))
    say_on_layer(walk, said);
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
  uint32_t own = mine ? 1u << walk->lane & ~absent : 0; /* a ballot of others depends on all of them */
  const SeenValues *ballots = inst->dst >= 0 ? ballots_seen(walk, state->pc, own) : NULL;
  bool alone = is_alone(walk, state, inst);
  for (int outcome = 0; outcome < 2; outcome++) {
    if (!(outcome ? may_true : may_false))
      continue;
    for (uint32_t i = 0; i < (ballots ? ballots->count : 1); i++)
      take_vote(walk, state, inst, outcome, ballots ? &ballots->value[i] : alone ? &own : NULL);
  }
}

/* ---- shuffles ---- */

/* The shuffle gives the lane this value; it was in range. */
static void take_value(LaneWalk *walk, const LaneState *state, const Inst *inst, bool unknown, uint32_t value) {
  LaneSpace after;
  lane_state_copy(&after.state, state, walk_nregs(walk));
  explore_set_register(walk, &after.state, inst->dst, unknown, value);
  explore_set_predicate(&after.state, inst->pdst, true);
  explore_go_on(walk, &after.state, inst, state->pc + 1);
}

/* A lane that isn't the leader: whatever some leader of its warp gives. */
static void follow_leader(LaneWalk *walk, const LaneState *state, const Inst *inst, ValueSet *given) {
  explore_note_reader(walk, &given->readers);
  if (given->anything || is_any_lane(walk) || (read_only(walk) && !given->count)) {
    take_value(walk, state, inst, true, 0);
    return;
  }
  uint32_t count = given->count, values[VALUES_MAX];
  memcpy(values, given->value, count * sizeof *values);
  for (uint32_t i = 0; i < count; i++)
    take_value(walk, state, inst, false, values[i]);
}

static void step_with_leader(LaneWalk *walk, const LaneState *state, const Inst *inst, const Leader *leader) {
  const WarpView *view = walk->view;
  AbstractMemory *memory = &walk->explorer->memory;
  ValueSet *given = abstract_word(memory, view->sm, word_key_given(view->sm->index, view->warp->slot, state->pc));
  walk->effects.of_warp = true;
  if (!(state->preds >> leader->predicate & 1)) {
    follow_leader(walk, state, inst, given);
    return;
  }
  bool unknown = slot_unknown(state, inst->a);
  uint32_t value = slot_value(walk, state, inst->a);
  if (keeps_stores(walk) && unknown)
    abstract_add_anything(memory, given);
  else if (keeps_stores(walk))
    abstract_add(memory, given, value);
  take_value(walk, state, inst, unknown, value);
}

/* The shuffle that lies behind a vote for a leader; NULL: it is another one. */
static const Leader *leader_of(const LaneWalk *walk, const LaneState *state, const Inst *inst) {
  enum { WHOLE_WARP = 0x1f };
  const Leader *leader = walk->view->facts->leaders ? &walk->view->facts->leaders[state->pc] : NULL;
  bool whole = leader && leader->known && !slot_unknown(state, inst->c) &&
               slot_value(walk, state, inst->c) == WHOLE_WARP && !slot_unknown(state, leader->number);
  return whole && state->regs[leader->number] == walk->lane ? leader : NULL;
}

/* A lane that reads its own register. */
static bool reads_itself(LaneWalk *walk, const LaneState *state, const Inst *inst) {
  if (inst->op != OP_SHFL || inst->mode != SHFL_IDX || slot_unknown(state, inst->b) ||
      slot_unknown(state, inst->c) || is_any_lane(walk))
    return false;
  walk->effects.of_lane = true;
  return slot_value(walk, state, inst->b) == walk->lane && slot_value(walk, state, inst->c) == 0x1f;
}

/* A lane that is alone in its warp elects itself, and so does the lowest of the mask: it is there. False if another
 * one may be elected. */
static bool elects_itself(LaneWalk *walk, LaneState *state, const Inst *inst) {
  if (inst->op != OP_ELECT || slot_unknown(state, inst->a) || is_any_lane(walk))
    return false;
  uint32_t self = 1u << walk->lane, mask = slot_value(walk, state, inst->a);
  bool alone = walk->view->warp->alive == self, member = mask & self;
  walk->effects.of_lane = true;
  walk->effects.of_warp = true;
  if (!alone && (mask & (0u - mask)) != self)
    return false;
  explore_set_register(walk, state, inst->dst, false, member ? walk->lane : 0);
  explore_set_predicate(state, inst->pdst, member);
  explore_go_on(walk, state, inst, state->pc + 1);
  return true;
}

/* The same of a shuffle; false if it wasn't seen. */
static bool take_seen(LaneWalk *walk, const LaneState *state, const Inst *inst) {
  const SeenValues *values = explore_exchange_seen(walk, state->pc);
  for (uint32_t i = 0; values && i < values->count; i++) {
    LaneSpace after;
    lane_state_copy(&after.state, state, walk_nregs(walk));
    explore_forget_writes(walk, &after.state, inst);
    explore_set_register(walk, &after.state, inst->dst, false, values->value[i]);
    explore_go_on(walk, &after.state, inst, state->pc + 1);
  }
  return values;
}

/* What other lanes hold isn't known here, unless their leader gives it to them. */
void explore_shuffle(LaneWalk *walk, LaneState *state, const Inst *inst) {
  const Leader *leader = leader_of(walk, state, inst);
  if (elects_itself(walk, state, inst))
    return;
  if (!leader && reads_itself(walk, state, inst)) {
    take_value(walk, state, inst, slot_unknown(state, inst->a), slot_value(walk, state, inst->a));
    return;
  }
  if (!leader && take_seen(walk, state, inst))
    return;
  if (!leader) {
    explore_forget_writes(walk, state, inst);
    explore_go_on(walk, state, inst, state->pc + 1);
    return;
  }
  if (!(state->preds_unknown >> leader->predicate & 1)) {
    step_with_leader(walk, state, inst, leader);
    return;
  }
  for (int value = 0; value < 2; value++) {
    LaneSpace known;
    lane_state_copy(&known.state, state, walk_nregs(walk));
    explore_set_predicate(&known.state, leader->predicate, value);
    step_with_leader(walk, &known.state, inst, leader);
  }
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

/* The barrier completes: what BAR.RED makes of the lane's predicate and of the others'. */
static void take_reduction(LaneWalk *walk, LaneState *state, const Inst *inst, uint32_t id) {
  bool mine = explore_source_predicate(state, inst, 0);
  /* It may not be known which lane this is, or what keeps the others. */
  bool with_anybody = assumes_all_open(walk) || is_any_lane(walk) || walk->view->any_block;
  Reduced reduced = with_anybody ? reduction_with_anybody((BarMode)inst->mode, mine)
                                 : reduction_of_comer(walk->view, id, (BarMode)inst->mode, walk->lane, mine);
  explore_forget_writes(walk, state, inst);
  if (inst->mode == BAR_RED_POPC) {
    if ((uint32_t)inst->dst < walk_nregs(walk))
      lane_state_set_range(state, (unsigned)inst->dst, reduced.low, reduced.high);
    explore_go_on(walk, state, inst, state->pc + 1);
    return;
  }
  for (int outcome = 0; outcome < 2; outcome++) {
    if (!reduced.may[outcome])
      continue;
    LaneSpace after;
    lane_state_copy(&after.state, state, walk_nregs(walk));
    explore_set_predicate(&after.state, inst->pdst, outcome);
    explore_go_on(walk, &after.state, inst, state->pc + 1);
  }
}

/* The lane goes on if the barrier may complete. */
static void wait_at_barrier(LaneWalk *walk, LaneState *state, const Inst *inst, uint32_t id) {
  walk->reach.block_barriers |= 1u << id;
  if (!assumes_all_open(walk) && !explorer_barrier_opens(walk->view, id))
    return;
  if (inst->op == OP_BAR && inst->mode >= BAR_RED_POPC)
    take_reduction(walk, state, inst, id);
  else
    explore_go_on(walk, state, inst, state->pc + 1);
}

/* The lane may arrive at the barrier of its cluster, or waits there. One that has arrived at a phase which is over
 * goes on in any case. */
static void come_to_cluster(LaneWalk *walk, LaneState *state, const Inst *inst) {
  WarpView *view = walk->view;
  uint32_t over = view->warp->groups->owes[(view->block->cluster_phase & 1) ^ 1];
  walk->effects.of_warp = walk->effects.of_lane = true;
  if (inst->mode == CLUSTERBAR_ARRIVE) {
    if (!read_only(walk))
      explore_come_to(walk, &view->arrives[CLUSTER_BARRIER]);
    explore_go_on(walk, state, inst, state->pc + 1);
    return;
  }
  walk->reach.block_barriers |= 1u << CLUSTER_BARRIER;
  if (assumes_all_open(walk) || over >> walk->lane & 1 || explorer_barrier_opens(view, CLUSTER_BARRIER))
    explore_go_on(walk, state, inst, state->pc + 1);
}

void explore_barrier(LaneWalk *walk, LaneState *state, const Inst *inst) {
  WarpView *view = walk->view;
  if (inst->op == OP_CLUSTERBAR) {
    come_to_cluster(walk, state, inst);
    return;
  }
  bool has_count = inst->flags & INST_HAS_COUNT;
  if (inst->op == OP_SYNCBLOCKS) {
    walk->effects.of_warp = true;
    if (!read_only(walk))
      arrive_at_barrier(walk, GRID_BARRIER, 0, inst);
    wait_at_barrier(walk, state, inst, GRID_BARRIER);
    return;
  }
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
  if (inst->mode < BAR_RED_POPC) {
    explore_come_to(walk, &view->says_nothing[id]);
  } else {
    bool says = explore_source_predicate(state, inst, 0);
    walk->reach.says[says] |= 1u << id;
    explore_come_to(walk, &view->says[says][id]);
  }
  if (inst->mode == BAR_ARV) {
    explore_go_on(walk, state, inst, state->pc + 1);
    return;
  }
  wait_at_barrier(walk, state, inst, id);
}
