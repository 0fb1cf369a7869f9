#include "sim/core/lane_waits.h"

#include "base/assert.h"
#include "base/bits.h"
#include "sim/core/members.h"
#include "sim/core/sm.h"

LaneGroup *lane_waits_add(LaneGroups *groups, LaneGroup group) {
  LS_REQUIRE("lane-groups-room", group.mask && groups->count < WARP_LANES);
  groups->group[groups->count] = group;
  return &groups->group[groups->count++];
}

void lane_waits_drop(LaneGroups *groups, uint32_t index) {
  groups->count--;
  memmove(&groups->group[index], &groups->group[index + 1], (groups->count - index) * sizeof groups->group[0]);
}

LaneGroup *lane_waits_park(Warp *warp, GroupState state, uint32_t which, uint32_t lanes, uint32_t mode) {
  LaneGroups *groups = warp->groups;
  unsigned lane = (unsigned)__builtin_ctz(lanes);
  warp->active &= ~lanes;
  for (uint32_t i = 0; state != GROUP_AT_BARRIER && i < groups->count; i++) {
    LaneGroup *group = &groups->group[i];
    if (group->state == state && group->which == which && group->pc == warp->pc &&
        (state != GROUP_AT_SYNC || sync_records_members(&groups->sync, which, lane) & group->mask)) {
      group->mask |= lanes;
      group->parts++;
      return group;
    }
  }
  return lane_waits_add(
      groups, (LaneGroup){.pc = warp->pc, .mask = lanes, .state = state, .which = which, .mode = mode, .parts = 1});
}

bool lane_waits_goes_by_mask(uint32_t mode) { return mode == WARPSYNC_EXCLUSIVE || mode == WARPSYNC_COLLECTIVE; }

/* True if two groups that leave a wait go on as one: from one place, but not from exclusive or collective WARPSYNCs
 * of different masks; or from a collective of one mask, wherever they are. */
static bool go_together(const LaneGroup *going, const LaneGroup *group) {
  if (group->which == going->which && group->mode == WARPSYNC_COLLECTIVE && going->mode == WARPSYNC_COLLECTIVE)
    return true;
  return going->pc == group->pc + 1 && (!lane_waits_goes_by_mask(group->mode) || group->which == going->which);
}

/* Lanes of `members` that wait at a BSYNC. */
static uint32_t lanes_at_sync(const LaneGroups *groups, unsigned barrier, uint32_t members) {
  uint32_t lanes = 0;
  for (uint32_t i = 0; i < groups->count; i++)
    if (groups->group[i].state == GROUP_AT_SYNC && groups->group[i].which == barrier)
      lanes |= groups->group[i].mask & members;
  return lanes;
}

void lane_waits_clear(Warp *warp, const LaneGroup *group, uint32_t but) {
  LaneGroups *groups = warp->groups;
  uint32_t lanes = sync_records_present(&groups->sync, group->which, (unsigned)__builtin_ctz(group->mask));
  if (lanes & warp->alive & ~lanes_at_sync(groups, group->which, lanes) & ~group->mask & ~groups->marked)
    lanes &= sync_records_of(&groups->sync, group->which, group->mask);
  groups->sync.freed[group->which] |= lanes & ~group->mask & ~lanes_at_sync(groups, group->which, lanes);
  groups->marked &= ~lanes | but;
  sync_records_withdraw(&groups->sync, group->which, lanes | group->mask);
}

void lane_waits_let_go(Warp *warp, uint32_t leaving, uint64_t from, uint32_t yields) {
  LaneGroups *groups = warp->groups;
  LaneGroup going[WARP_LANES];
  uint32_t count = 0;
  for (uint32_t i = 0; i < groups->count; i++) {
    LaneGroup group = groups->group[i];
    uint32_t same = 0;
    if (!(leaving >> i & 1))
      continue;
    if (group.state == GROUP_AT_SYNC)
      lane_waits_clear(warp, &group, yields);
    while (same < count && !go_together(&going[same], &group))
      same++;
    if (same == count)
      going[count++] = (LaneGroup){
          .from = from, .pc = group.pc + 1, .state = GROUP_READY, .mode = group.mode, .which = group.which};
    going[same].mask |= group.mask;
  }
  for (uint32_t i = groups->count; i-- > 0;)
    if (leaving >> i & 1)
      lane_waits_drop(groups, i);
  for (uint32_t i = 0; i < count; i++) {
    going[i].mode = 0;
    lane_waits_add(groups, going[i]);
  }
}

/* Lanes that are at a WARPSYNC of that mask, which has them. */
static uint32_t lanes_at_warpsync(const LaneGroups *groups, uint32_t mask) {
  uint32_t lanes = 0;
  for (uint32_t i = 0; i < groups->count; i++)
    if (groups->group[i].state == GROUP_AT_WARPSYNC && groups->group[i].which == mask)
      lanes |= groups->group[i].mask & mask;
  return lanes;
}

uint64_t lane_waits_collective_takes(const Issue *issue, uint32_t mask) {
  const Machine *machine = issue->gpu->machine;
  const LaneGroups *groups = issue->warp->groups;
  uint32_t again = issue->encoded ? machine->sm.encoded.collective_again : 0;
  uint64_t takes = 0;
  for (uint32_t i = 0; i < groups->count; i++) {
    const LaneGroup *group = &groups->group[i];
    if (group->state == GROUP_AT_WARPSYNC && group->which == mask)
      takes += machine->sm.encoded.collective + (group->parts - 1) * again;
  }
  return takes;
}

bool lane_waits_some_are(const LaneGroups *groups, GroupState state) {
  for (uint32_t i = 0; i < groups->count; i++)
    if (groups->group[i].state == state)
      return true;
  return false;
}

bool lane_waits_some_at_collective(const LaneGroups *groups) {
  for (uint32_t i = 0; i < groups->count; i++)
    if (groups->group[i].state == GROUP_AT_WARPSYNC && groups->group[i].mode == WARPSYNC_COLLECTIVE)
      return true;
  return false;
}

bool lane_waits_some_at_warpsync(const LaneGroups *groups) {
  return lane_waits_some_are(groups, GROUP_AT_WARPSYNC) || lane_waits_some_are(groups, GROUP_AT_MEETING);
}

/* True if a group can go on that hasn't given way since it last had to. */
static bool some_unmarked_can_run(const Warp *warp) {
  for (uint32_t i = 0; i < warp->groups->count; i++) {
    const LaneGroup *group = &warp->groups->group[i];
    if (group->state == GROUP_READY || (group->state == GROUP_YIELDED && group->mask & ~warp->groups->marked))
      return true;
  }
  return warp->active != 0;
}

/* Tells that the groups of `leaving` that wait at a WARPSYNC go on; each mask is told once. */
static void report_warpsyncs(const Issue *issue, uint32_t leaving) {
  const LaneGroups *groups = issue->warp->groups;
  for (uint32_t i = 0; i < groups->count; i++) {
    uint32_t which = groups->group[i].which, lanes = 0, at = 0;
    for (uint32_t j = 0; j < groups->count; j++) {
      const LaneGroup *group = &groups->group[j];
      bool meets = group->state == GROUP_AT_WARPSYNC || group->state == GROUP_AT_MEETING;
      if (!(leaving >> j & 1) || !meets || group->which != which)
        continue;
      at |= 1u << j;
      lanes |= group->mask;
    }
    if (at >> i & 1 && !(at & ((1u << i) - 1))) {
      ProbePoint point = issue_point(issue, lanes);
      PROBE_FIRE(issue->gpu, warp_sync, &point);
    }
  }
}

/* Tells of the groups of `leaving` that wait at a WARPSYNC for lanes that haven't come to it. */
static void report_members(const Issue *issue, uint32_t leaving) {
  const Warp *warp = issue->warp;
  const LaneGroups *groups = warp->groups;
  const Kernel *kernel = warp_block(issue->sm, warp)->launch->kernel;
  for (uint32_t rest = leaving; rest; rest &= rest - 1) {
    const LaneGroup *group = &groups->group[__builtin_ctz(rest)];
    uint32_t there = 0, members[WARP_LANES];
    if (group->state != GROUP_AT_WARPSYNC)
      continue;
    for (uint32_t i = 0; i < groups->count; i++) {
      const LaneGroup *other = &groups->group[i];
      bool comes = other->state == GROUP_AT_WARPSYNC && members_alike(kernel, group->pc, other->pc);
      there |= comes ? other->mask : 0;
    }
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
      members[lane] = group->which;
    members_tell(issue, group->pc, group->mask, members, there);
  }
}

/* Lanes for which the group waits at a WARPSYNC: of its mask, and not there. */
static uint32_t absent_from_warpsync(const Warp *warp, const LaneGroup *group) {
  return group->which & warp->alive & ~lanes_at_warpsync(warp->groups, group->which);
}

uint32_t lane_waits_with_awaited(const Warp *warp, uint32_t lanes) {
  const LaneGroups *groups = warp->groups;
  uint32_t all = lanes;
  for (uint32_t i = 0; i < groups->count; i++)
    if (groups->group[i].state == GROUP_AT_WARPSYNC && groups->group[i].mask & lanes)
      all |= absent_from_warpsync(warp, &groups->group[i]);
  return all;
}

/* Lanes that wait at a WARPSYNC for nobody but marked ones. */
static uint32_t kept_by_marked(const Warp *warp) {
  const LaneGroups *groups = warp->groups;
  uint32_t lanes = 0;
  for (uint32_t i = 0; i < groups->count; i++)
    if (groups->group[i].state == GROUP_AT_WARPSYNC &&
        !(absent_from_warpsync(warp, &groups->group[i]) & ~groups->marked))
      lanes |= groups->group[i].mask;
  return lanes;
}

/* Lanes that a group at a BSYNC needn't wait for if nobody goes on who hasn't given way: those that have, if
 * `yields`, which do so just now, are among the members or keep some of them at a WARPSYNC, or there are none;
 * members that are kept so; and members of other records, which may wait for the group themselves. (No GPU was seen
 * to hang there.) */
static uint32_t excused(const Issue *issue, const LaneGroup *group, uint32_t members, uint32_t yields) {
  const Warp *warp = issue->warp;
  const LaneGroups *groups = warp->groups;
  bool often = group->yields >= issue->gpu->machine->sm.lane_groups.yields_to_release;
  if (some_unmarked_can_run(warp))
    return 0;
  bool of_members = !yields || lane_waits_with_awaited(warp, members) & yields;
  return ~sync_records_of(&groups->sync, group->which, group->mask) |
         (often && of_members ? groups->marked | kept_by_marked(warp) : 0);
}

/* The members of the barrier of a group at a BSYNC that haven't come to it. */
static uint32_t lacks_members(const Warp *warp, const LaneGroup *group) {
  const LaneGroups *groups = warp->groups;
  unsigned lane = (unsigned)__builtin_ctz(group->mask);
  return sync_records_members(&groups->sync, group->which, lane) & warp->alive &
         ~lanes_at_sync(groups, group->which, sync_records_present(&groups->sync, group->which, lane));
}

/* The lanes that a group at a BSYNC or WARPSYNC waits for. */
static uint32_t missing_for(const Issue *issue, const LaneGroup *group, uint32_t yields) {
  const Warp *warp = issue->warp;
  const LaneGroups *groups = warp->groups;
  unsigned lane = (unsigned)__builtin_ctz(group->mask);
  uint32_t members, missing;
  switch ((GroupState)group->state) {
  case GROUP_AT_WARPSYNC: return absent_from_warpsync(warp, group);
  case GROUP_AT_MEETING: return warp->alive & ~group->mask;
  case GROUP_AT_SYNC:
    members = sync_records_members(&groups->sync, group->which, lane);
    missing = lacks_members(warp, group);
    return missing ? missing & ~excused(issue, group, members, yields) : 0;
  default: return ALL_LANES;
  }
}

/* Groups (a mask of their indices) that wait at a BSYNC, and all of whose lanes some WARPSYNC waits for. They
 * leave that barrier alone. Groups of which it waits for some lanes are split. */
static uint32_t wanted_elsewhere(LaneGroups *groups) {
  uint32_t wanted = 0, leaving = 0;
  for (uint32_t i = 0; i < groups->count; i++)
    wanted |= groups->group[i].state == GROUP_AT_WARPSYNC || groups->group[i].state == GROUP_AT_MEETING
                  ? groups->group[i].which
                  : 0;
  for (uint32_t i = 0, count = groups->count; wanted && i < count; i++) {
    LaneGroup *group = &groups->group[i];
    if (group->state != GROUP_AT_SYNC || !(group->mask & wanted))
      continue;
    LaneGroup rest = *group;
    rest.mask &= ~wanted;
    group->mask &= wanted;
    leaving |= 1u << i;
    if (rest.mask)
      lane_waits_add(groups, rest);
    sync_records_withdraw(&groups->sync, group->which, group->mask);
  }
  return leaving;
}

/* True if a group that gave way goes on at that instruction. */
static bool some_gave_way_at(const LaneGroups *groups, uint32_t pc) {
  for (uint32_t i = 0; i < groups->count; i++)
    if (groups->group[i].state == GROUP_YIELDED && groups->group[i].pc == pc)
      return true;
  return false;
}

/* Of `leaving` (a mask of indices), those at a BSYNC that some of their members haven't come to are due, behind those
 * that gave way before, if some did where the warp does so now; the others remain. `leaving` becomes a mask of where
 * these are then. */
static uint32_t put_off(const Issue *issue, uint32_t leaving) {
  LaneGroups *groups = issue->warp->groups;
  LaneGroup due[WARP_LANES];
  uint32_t count = 0, now = 0;
  if (!some_gave_way_at(groups, issue->warp->pc + 1))
    return leaving;
  for (uint32_t i = 0, old = 0; old < WARP_LANES && i < groups->count; old++) {
    LaneGroup *group = &groups->group[i];
    bool goes = leaving >> old & 1;
    if (goes && group->state == GROUP_AT_SYNC && lacks_members(issue->warp, group)) {
      if (!group->due) {
        due[count++] = *group;
        lane_waits_drop(groups, i);
        continue;
      }
      goes = false;
    }
    now |= (uint32_t)goes << i++;
  }
  for (uint32_t i = 0; i < count; i++)
    lane_waits_add(groups, due[i])->due = true;
  return now;
}

void lane_waits_release(const Issue *issue, uint64_t from, uint32_t yields) {
  LaneGroups *groups = issue->warp->groups;
  uint32_t leaving;
  do {
    leaving = 0;
    for (uint32_t i = 0; i < groups->count; i++)
      leaving |= missing_for(issue, &groups->group[i], yields) ? 0 : 1u << i;
    if (PROBE_WANTED(issue->gpu, warp_sync))
      report_warpsyncs(issue, leaving);
    if (PROBE_WANTED(issue->gpu, odd_mask))
      report_members(issue, leaving);
    leaving = yields ? put_off(issue, leaving) : leaving;
    lane_waits_let_go(issue->warp, leaving, from, yields);
    leaving = some_unmarked_can_run(issue->warp) ? 0 : wanted_elsewhere(groups);
    lane_waits_let_go(issue->warp, leaving, from, 0);
  } while (leaving);
}

bool lane_waits_completes(const Warp *warp, unsigned barrier, uint32_t lanes) {
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    LaneGroup one = {.which = barrier, .mask = rest & -rest};
    if (lacks_members(warp, &one) & ~lanes)
      return false;
  }
  return true;
}
