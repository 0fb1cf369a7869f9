#include "sim/detect/proof/explore_groups.h"

const LaneGroup *explore_group_of(const WarpView *view, unsigned lane) {
  const LaneGroups *groups = view->warp->groups;
  for (uint32_t i = 0; i < groups->count; i++)
    if (groups->group[i].mask >> lane & 1)
      return &groups->group[i];
  return NULL;
}

void explore_groups_init(WarpView *view) {
  for (uint32_t rest = view->warp->alive; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    const LaneGroup *group = explore_group_of(view, lane);
    if (group && group->state == GROUP_AT_SYNC)
      view->reach[lane].syncs = 1u << group->which;
    view->reach[lane].warpsyncs = group && group->state == GROUP_AT_WARPSYNC && group->which >> lane & 1;
    view->reach[lane].calls = group && (group->state == GROUP_AT_WARPSYNC || group->state == GROUP_AT_MEETING);
    if (group && group->state == GROUP_AT_MEETING) {
      view->reach[lane].meets = true;
      view->meet[group->pc] |= rest & -rest;
    }
  }
}

bool explore_turn_comes(const WarpView *view) {
  for (uint32_t rest = view->warp->active; rest; rest &= rest - 1) {
    const LaneReach *reach = &view->reach[__builtin_ctz(rest)];
    if (reach->stops || reach->exits || reach->barriers || (reach->rejoins && view->parts))
      return true;
  }
  return view->warp->active == 0;
}

/* Lanes that can neither come to the WARPSYNC.ALL at `pc` nor exit. */
static uint32_t missing_at_meeting(const WarpView *view, uint32_t pc) {
  uint32_t missing = 0;
  for (uint32_t rest = view->warp->alive & ~view->meet[pc]; rest; rest &= rest - 1)
    missing |= view->reach[__builtin_ctz(rest)].exits ? 0 : rest & -rest;
  return missing;
}

/* Lanes of `lanes` that can neither come to a WARPSYNC nor exit. */
static uint32_t missing_at_warpsync(const WarpView *view, uint32_t lanes) {
  uint32_t missing = 0;
  for (uint32_t rest = lanes & view->warp->alive; rest; rest &= rest - 1) {
    const LaneReach *reach = &view->reach[__builtin_ctz(rest)];
    missing |= reach->warpsyncs || reach->exits ? 0 : rest & -rest;
  }
  return missing;
}

/* Lanes that take part in the barrier with `waiting`, and can neither come to it nor exit; 0 if some other lane may yield, or
 * come to a WARPSYNC, which may wait for these. */
static uint32_t missing_at_sync(const WarpView *view, unsigned barrier, uint32_t waiting) {
  uint32_t missing = 0, alive = view->warp->alive;
  uint32_t record = lane_groups_participants(view->warp->groups, barrier, (unsigned)__builtin_ctz(waiting));
  for (uint32_t rest = alive & ~waiting; rest; rest &= rest - 1) {
    const LaneReach *reach = &view->reach[__builtin_ctz(rest)];
    if (reach->yields || reach->calls)
      return 0;
    missing |= reach->exits || reach->syncs >> barrier & 1 ? 0 : rest & -rest & record;
  }
  return missing;
}

uint32_t explore_group_misses(const WarpView *view, const LaneGroup *group) {
  switch ((GroupState)group->state) {
  case GROUP_AT_SYNC: return missing_at_sync(view, group->which, group->mask);
  case GROUP_AT_WARPSYNC: return missing_at_warpsync(view, group->which);
  case GROUP_AT_MEETING: return missing_at_meeting(view, group->pc);
  default: return 0;
  }
}

LanePlace explore_group_place(const WarpView *view, unsigned lane) {
  const LaneGroup *group = explore_group_of(view, lane);
  if (!group)
    return (LanePlace){.pc = view->warp->pc, .runs = true};
  bool at_barrier = group->state == GROUP_AT_BARRIER;
  return (LanePlace){.pc = group->pc + (group->state != GROUP_READY),
                     .at_barrier = at_barrier,
                     .barrier_pc = group->pc,
                     .runs = explore_turn_comes(view) && !explore_group_misses(view, group) &&
                             (!at_barrier || explorer_barrier_opens(view, group->which))};
}

/* True if the lane may go on behind a WARPSYNC that it comes to. */
static bool passes_warpsync(const LaneWalk *walk, const LaneState *state, const Inst *inst) {
  if (slot_unknown(state, inst->a))
    return true;
  return !missing_at_warpsync(walk->view, slot_value(walk, state, inst->a) & ~(1u << walk->lane));
}

/* True if all lanes that the lane meets at convergence barrier `barrier` are in its group, the running one, as long as that
 * stays whole: those of a BSSY that the exploration executed, or of a record whose other lanes have exited. */
static bool meets_own_group(const LaneWalk *walk, const LaneState *state, const Inst *inst) {
  const Warp *warp = walk->view->warp;
  uint32_t record = lane_groups_participants(warp->groups, inst->mode, walk->lane);
  return inst->guard == PRED_TRUE && ((state->begun >> inst->mode & 1) || !(record & warp->alive & ~warp->active));
}

/* WARPSYNC.ALL: false if the lane can't go on behind it. */
static bool passes_meeting(LaneWalk *walk, uint32_t pc) {
  WarpView *view = walk->view;
  uint32_t bit = 1u << walk->lane;
  walk->reach.meets = true;
  if (!(view->meet[pc] & bit) && !read_only(walk)) {
    view->meet[pc] |= bit;
    walk->explorer->memory.version++;
  }
  return assumes_all_open(walk) || !(missing_at_meeting(view, pc) & ~bit);
}

void explore_group_branch(LaneWalk *walk, uint32_t pc, bool taken) {
  WarpView *view = walk->view;
  if (view->warp->active >> walk->lane & 1 && explore_note_way(walk, pc, taken))
    view->parts |= view->ways[pc] == 3 && (view->warp->active & (view->warp->active - 1));
}

void explore_group_step(LaneWalk *walk, LaneState *state, const Inst *inst) {
  uint32_t barrier = inst->op == OP_WARPSYNC ? 0 : 1u << inst->mode; /* of BSSY, BSYNC and BREAK */
  if (inst->op == OP_BSYNC && meets_own_group(walk, state, inst))
    walk->reach.rejoins = true;
  else
    walk->reach.stops |= inst->op != OP_BSSY && inst->op != OP_BREAK;
  switch ((Opcode)inst->op) {
  case OP_BSSY:
  case OP_BREAK:
    walk->reach.syncs |= barrier;
    state->begun |= barrier;
    break;
  case OP_BSYNC:
    walk->reach.syncs |= barrier;
    if (!(state->begun & barrier) && !assumes_all_open(walk) &&
        missing_at_sync(walk->view, inst->mode, 1u << walk->lane))
      return;
    state->begun |= barrier;
    break;
  case OP_WARPSYNC:
    walk->reach.calls = true;
    if (inst->mode == WARPSYNC_ALL) {
      if (!passes_meeting(walk, state->pc))
        return;
      break;
    }
    walk->reach.warpsyncs |= slot_unknown(state, inst->a) || slot_value(walk, state, inst->a) >> walk->lane & 1;
    if (!assumes_all_open(walk) && !passes_warpsync(walk, state, inst))
      return;
    break;
  default: walk->reach.yields = true; break;
  }
  explore_go_on(walk, state, inst, state->pc + 1);
}

/* True if some lane of the warp may execute a barrier `id`: then those that its guard leaves out come with it. */
static bool is_executed(const WarpView *view, uint32_t id) {
  bool executed = view->signals >> id & 1;
  for (uint32_t rest = view->warp->alive; rest; rest &= rest - 1)
    executed |= view->reach[__builtin_ctz(rest)].barriers >> id & 1;
  return executed;
}

void explore_barrier_beside(LaneWalk *walk, const LaneState *state, const Inst *inst) {
  if (slot_unknown(state, inst->a)) {
    walk->explorer->gave_up = true;
    return;
  }
  uint32_t id = slot_value(walk, state, inst->a), bit = 1u << walk->lane;
  walk->reach.stops = true;
  if (id >= BLOCK_BARRIERS || walk->view->arrives[id] & bit || read_only(walk) || !is_executed(walk->view, id))
    return;
  walk->view->arrives[id] |= bit;
  walk->explorer->memory.version++;
}

bool explore_groups_may_arrive(const WarpView *view, uint32_t id) {
  const LaneGroups *groups = view->warp->groups;
  const Barrier *barrier = &view->block->barrier[id];
  uint32_t come = groups->come[id] | view->arrives[id]; /* have come, or may */
  if (barrier->waiting >> view->warp->warp_in_block & 1)
    return false; /* all its lanes wait there, or arrived and exited */
  for (uint32_t rest = view->warp->alive & ~come; rest; rest &= rest - 1)
    if (!view->reach[__builtin_ctz(rest)].exits)
      return false;
  return come;
}

bool explore_groups_signalled(const WarpView *view, uint32_t id) {
  const LaneGroups *groups = view->warp->groups;
  uint32_t lanes = groups->come[id] & view->warp->alive;
  for (uint32_t i = 0; i < groups->count; i++)
    if (groups->group[i].state == GROUP_AT_BARRIER && groups->group[i].which == id)
      lanes &= ~groups->group[i].mask;
  return lanes && explore_groups_may_arrive(view, id);
}
