/* Points where lane groups switch: BSSY, BSYNC, BREAK, YIELD, WARPSYNC, NANOSLEEP. */
#include "sim/core/lane_groups.h"
#include "sim/detect/proof/explore_groups.h"
#include "sim/detect/proof/explore_step.h"

/* True if the lane may go on behind a WARPSYNC that it comes to. */
static bool passes_warpsync(const LaneWalk *walk, const LaneState *state, const Inst *inst) {
  if (slot_unknown(state, inst->a))
    return true;
  return !(explore_missing_at_warpsync(walk->view, slot_value(walk, state, inst->a)) & ~(1u << walk->lane));
}

/* The lane comes to a WARPSYNC. Whose mask hasn't it, nobody waits for it there. */
static void note_mask(LaneWalk *walk, const LaneState *state, const Inst *inst) {
  uint32_t mask = slot_value(walk, state, inst->a);
  if (slot_unknown(state, inst->a))
    walk->reach.meets.any = true;
  else if (mask >> walk->lane & 1)
    mask_set_add(&walk->reach.meets, mask);
}

/* Lanes that wait at a BSYNC that the lane hasn't come to, nor left by BREAK: it has gone past it, if it is behind it
 * by now. */
static uint32_t lanes_passed_by(const Warp *warp, const LaneState *state, unsigned barrier) {
  uint32_t lanes = 0;
  for (uint32_t i = 0; i < warp->groups->count; i++) {
    const LaneGroup *group = &warp->groups->group[i];
    if (group->state == GROUP_AT_SYNC && group->which != barrier && !(state->begun >> group->which & 1))
      lanes |= group->mask;
  }
  return lanes;
}

/* True if all lanes that the lane meets at a convergence barrier go on with it before another group gets a
 * turn, since the newest group goes first: those of a BSSY that the exploration executed, or members that are
 * among them. */
static bool meets_own_group(const LaneWalk *walk, const LaneState *state, const Inst *inst) {
  const Warp *warp = walk->view->warp;
  uint32_t others = warp->alive & (~explore_lanes_together(warp) | lanes_passed_by(warp, state, inst->mode));
  bool begun = state->begun >> inst->mode & 1;
  uint32_t members = begun ? sync_records_all(&warp->groups->sync, inst->mode)
                           : sync_records_members(&warp->groups->sync, inst->mode, walk->lane);
  return inst->guard == PRED_TRUE && !(members & others);
}

/* WARPSYNC.ALL: false if the lane can't go on behind it. */
static bool passes_meeting(LaneWalk *walk, uint32_t pc) {
  walk->reach.meets_all = true;
  explore_come_to(walk, view_meeting(walk->view, pc));
  return assumes_all_open(walk) || !(explore_missing_at_meeting(walk->view, pc) & ~(1u << walk->lane));
}

void explore_group_step(LaneWalk *walk, LaneState *state, const Inst *inst) {
  uint32_t barrier = inst->op == OP_WARPSYNC ? 0 : 1u << inst->mode; /* of BSSY, BSYNC and BREAK */
  if (inst->op != OP_BSSY && inst->op != OP_BREAK && !(inst->op == OP_BSYNC && meets_own_group(walk, state, inst)))
    walk->reach.may_switch = true;
  switch ((Opcode)inst->op) {
  case OP_BSSY:
  case OP_BREAK:
    walk->reach.conv_barriers |= barrier;
    state->begun |= barrier;
    break;
  case OP_BSYNC:
    walk->effects.of_warp = true;
    walk->effects.of_lane |= !(state->begun & barrier); /* by its record */
    walk->reach.conv_barriers |= barrier;
    if (!(state->begun & barrier) && !assumes_all_open(walk) &&
        explore_missing_at_sync(walk->view, inst->mode, 1u << walk->lane))
      return;
    state->begun |= barrier;
    break;
  case OP_WARPSYNC:
    walk->reach.calls_waiters = true;
    if (inst->mode == WARPSYNC_ALL) {
      if (!passes_meeting(walk, state->pc))
        return;
      break;
    }
    walk->effects.of_lane = true;
    note_mask(walk, state, inst);
    if (!assumes_all_open(walk) && !passes_warpsync(walk, state, inst))
      return;
    break;
  default: walk->reach.may_yield = true; break;
  }
  explore_go_on(walk, state, inst, state->pc + 1);
}

/* True if some lane of the warp may execute a barrier `id`: then those that its guard leaves out come with it. */
static bool is_executed(const WarpView *view, uint32_t id) {
  bool executed = view->signals >> id & 1;
  for (uint32_t rest = view->warp->alive; rest; rest &= rest - 1)
    executed |= view->reach[__builtin_ctz(rest)].block_barriers >> id & 1;
  return executed;
}

void explore_barrier_beside(LaneWalk *walk, const LaneState *state, const Inst *inst) {
  if (inst->op == OP_CLUSTERBAR) {
    walk->reach.may_switch = true;
    walk->effects.of_warp = true;
    explore_come_to(walk, &walk->view->arrives[CLUSTER_BARRIER]);
    return;
  }
  bool of_all = inst->op == OP_SYNCBLOCKS;
  if (!of_all && slot_unknown(state, inst->a)) {
    walk->explorer->gave_up = true;
    return;
  }
  uint32_t id = of_all ? (uint32_t)GRID_BARRIER : slot_value(walk, state, inst->a);
  walk->reach.may_switch = true;
  walk->effects.of_warp = true;
  if (id < BLOCK_BARRIERS && is_executed(walk->view, id)) {
    explore_come_to(walk, &walk->view->says_nothing[id]);
    explore_come_to(walk, &walk->view->arrives[id]);
  }
}
