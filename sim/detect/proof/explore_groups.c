#include "sim/detect/proof/explore_groups.h"

#include "sim/core/lane_groups.h"

const LaneGroup *explore_group_of(const WarpView *view, unsigned lane) {
  const LaneGroups *groups = view->warp->groups;
  for (uint32_t i = 0; i < groups->count; i++)
    if (groups->group[i].mask >> lane & 1)
      return &groups->group[i];
  return NULL;
}

uint32_t explore_lanes_together(const Warp *warp) {
  const LaneGroups *groups = warp->groups;
  uint32_t lanes = warp->active, before;
  do {
    before = lanes;
    for (uint32_t i = 0; i < groups->count; i++) {
      const LaneGroup *group = &groups->group[i];
      if (group->state == GROUP_AT_SYNC &&
          !(sync_records_members(&groups->sync, group->which, (unsigned)__builtin_ctz(group->mask)) & warp->alive &
            ~lanes & ~group->mask))
        lanes |= group->mask;
    }
  } while (lanes != before);
  return lanes;
}

void explore_groups_init(WarpView *view) {
  for (uint32_t rest = view->warp->alive; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    const LaneGroup *group = explore_group_of(view, lane);
    if (group && group->state == GROUP_AT_SYNC)
      view->reach[lane].conv_barriers = 1u << group->which;
    view->reach[lane].may_yield = view->warp->groups->marked >> lane & 1; /* until it runs again */
    if (group && group->state == GROUP_AT_WARPSYNC && group->which >> lane & 1)
      mask_set_add(&view->reach[lane].meets, group->which);
    view->reach[lane].calls_waiters =
        group && (group->state == GROUP_AT_WARPSYNC || group->state == GROUP_AT_MEETING);
    if (group && group->state == GROUP_AT_MEETING) {
      view->reach[lane].meets_all = true;
      *view_meeting(view, group->pc) |= rest & -rest;
    }
  }
}

bool explore_turn_comes(const WarpView *view) {
  for (uint32_t rest = explore_lanes_together(view->warp); rest; rest &= rest - 1) {
    const LaneReach *reach = &view->reach[__builtin_ctz(rest)];
    if (reach->may_switch || reach->may_exit || reach->block_barriers)
      return true;
  }
  return view->warp->active == 0;
}

/* Lanes that can neither come to the WARPSYNC.ALL at `pc` nor exit. */
uint32_t explore_missing_at_meeting(const WarpView *view, uint32_t pc) {
  uint32_t missing = 0;
  for (uint32_t rest = view->warp->alive & ~*view_meeting(view, pc); rest; rest &= rest - 1)
    missing |= view->reach[__builtin_ctz(rest)].may_exit ? 0 : rest & -rest;
  return missing;
}

/* Lanes of `mask` that can neither come to a WARPSYNC of that mask nor exit. */
uint32_t explore_missing_at_warpsync(const WarpView *view, uint32_t mask) {
  uint32_t missing = 0;
  for (uint32_t rest = mask & view->warp->alive; rest; rest &= rest - 1) {
    const LaneReach *reach = &view->reach[__builtin_ctz(rest)];
    missing |= mask_set_has(&reach->meets, mask) || reach->may_exit ? 0 : rest & -rest;
  }
  return missing;
}

/* True if some of `waiting`, who are at that BSYNC, needn't wait any longer. */
static bool some_due(const LaneGroups *groups, unsigned barrier, uint32_t waiting) {
  for (uint32_t i = 0; i < groups->count; i++) {
    const LaneGroup *group = &groups->group[i];
    if (group->due && group->which == barrier && group->mask & waiting)
      return true;
  }
  return false;
}

/* Lanes that take part in the barrier with `waiting`, in one record, and can neither come to it nor exit; 0 if
 * some other lane may yield, or come to a WARPSYNC, which may wait for these. */
uint32_t explore_missing_at_sync(const WarpView *view, unsigned barrier, uint32_t waiting) {
  uint32_t missing = 0, alive = view->warp->alive;
  uint32_t record = sync_records_of(&view->warp->groups->sync, barrier, waiting);
  if (some_due(view->warp->groups, barrier, waiting))
    return 0;
  for (uint32_t rest = alive & ~waiting; rest; rest &= rest - 1) {
    const LaneReach *reach = &view->reach[__builtin_ctz(rest)];
    if (reach->may_yield || reach->calls_waiters)
      return 0;
    missing |= reach->may_exit || reach->conv_barriers >> barrier & 1 ? 0 : rest & -rest & record;
  }
  return missing;
}

uint32_t explore_group_misses(const WarpView *view, const LaneGroup *group) {
  switch ((GroupState)group->state) {
  case GROUP_AT_SYNC: return explore_missing_at_sync(view, group->which, group->mask);
  case GROUP_AT_WARPSYNC: return explore_missing_at_warpsync(view, group->which);
  case GROUP_AT_MEETING: return explore_missing_at_meeting(view, group->pc);
  default: return 0;
  }
}

bool explore_groups_may_arrive(const WarpView *view, uint32_t id) {
  const LaneGroups *groups = view->warp->groups;
  const Barrier *barrier = &view->block->barrier[id];
  uint32_t come = groups->come[id] | view->arrives[id]; /* have come, or may */
  if (barrier->waiting >> view->warp->warp_in_block & 1)
    return false; /* all its lanes wait there, or arrived and exited */
  for (uint32_t rest = view->warp->alive & ~come; rest; rest &= rest - 1)
    if (!view->reach[__builtin_ctz(rest)].may_exit)
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
