#include "sim/core/lane_groups.h"

#include "base/assert.h"
#include "base/bits.h"
#include "sim/core/members.h"
#include "sim/core/scheduler.h"
#include "sim/core/sm.h"

void lane_groups_reset(LaneGroups *groups) {
  groups->count = 0;
  groups->runs_from = 0;
  groups->gathering = 0;
  groups->marked = 0;
  memset(groups->sync.used, 0, sizeof groups->sync.used);
  memset(groups->sync.saved, 0, sizeof groups->sync.saved);
  memset(groups->comes_back, 0, sizeof groups->comes_back);
  memset(groups->come, 0, sizeof groups->come);
  memset(groups->executed, 0, sizeof groups->executed);
}

static LaneGroup *add(LaneGroups *groups, LaneGroup group) {
  LS_REQUIRE("lane-groups-room", group.mask && groups->count < WARP_LANES);
  groups->group[groups->count] = group;
  return &groups->group[groups->count++];
}

/* The others keep their order. */
static void drop(LaneGroups *groups, uint32_t index) {
  groups->count--;
  memmove(&groups->group[index], &groups->group[index + 1], (groups->count - index) * sizeof groups->group[0]);
}

/* The groups that are ready are no longer the ones left behind last. */
static void leave_behind(LaneGroups *groups) {
  for (uint32_t i = 0; i < groups->count; i++)
    groups->group[i].left = groups->group[i].left || groups->group[i].state == GROUP_READY;
}

void lane_groups_diverge(Issue *issue, uint32_t taken, uint32_t target, uint32_t behind) {
  const Machine *machine = issue->gpu->machine;
  Warp *warp = issue->warp;
  uint32_t rest = warp->active & ~taken;
  bool taken_first = branch_takes_first(machine->sm.simt_stack.branch_order, taken, rest);
  uint32_t pc[2] = {target, behind}, mask[2] = {taken, rest};
  unsigned first = taken_first ? 0 : 1;
  LS_REQUIRE("lane-groups-diverge", taken && rest);
  issue->sm->ordered = true;
  leave_behind(warp->groups);
  add(warp->groups, (LaneGroup){.from = issue->now, .pc = pc[!first], .mask = mask[!first], .state = GROUP_READY});
  warp->pc = pc[first];
  warp->active = mask[first];
}

uint32_t lane_groups_scatter(Issue *issue, uint32_t lanes, const uint32_t target[WARP_LANES]) {
  Warp *warp = issue->warp;
  LaneGroup way[WARP_LANES];
  uint32_t count = 0;
  for (uint32_t left = warp->active; left; left &= ~way[count++].mask) {
    unsigned lowest = (unsigned)__builtin_ctz(left);
    uint32_t to = lanes >> lowest & 1 ? target[lowest] : warp->pc + 1;
    way[count] = (LaneGroup){.from = issue->now, .pc = to, .state = GROUP_READY, .left = true};
    for (uint32_t rest = left; rest; rest &= rest - 1) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      if ((lanes >> lane & 1 ? target[lane] : warp->pc + 1) == to)
        way[count].mask |= 1u << lane;
    }
  }
  if (count > 1)
    leave_behind(warp->groups);
  for (uint32_t i = count; i-- > 1;)
    add(warp->groups, way[i]);
  warp->pc = way[0].pc;
  warp->active = way[0].mask;
  return count;
}

/* ---- waiting and going on ---- */

/* `lanes` of the running group wait; at a BSYNC or WARPSYNC together with those that wait there already for the
 * same. */
static LaneGroup *park(Warp *warp, GroupState state, uint32_t which, uint32_t lanes, uint32_t mode) {
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
  return add(groups, (LaneGroup){
                         .pc = warp->pc, .mask = lanes, .state = state, .which = which, .mode = mode, .parts = 1});
}

/* True for a WARPSYNC whose lanes of one mask go on by themselves. */
static bool goes_by_mask(uint32_t mode) { return mode == WARPSYNC_EXCLUSIVE || mode == WARPSYNC_COLLECTIVE; }

/* True if two groups that leave a wait go on as one: from one place, but not from exclusive or collective WARPSYNCs
 * of different masks; or from a collective of one mask, wherever they are. */
static bool go_together(const LaneGroup *going, const LaneGroup *group) {
  if (group->which == going->which && group->mode == WARPSYNC_COLLECTIVE && going->mode == WARPSYNC_COLLECTIVE)
    return true;
  return going->pc == group->pc + 1 && (!goes_by_mask(group->mode) || group->which == going->which);
}

/* Lanes of `members` that wait at a BSYNC. */
static uint32_t lanes_at_sync(const LaneGroups *groups, unsigned barrier, uint32_t members) {
  uint32_t lanes = 0;
  for (uint32_t i = 0; i < groups->count; i++)
    if (groups->group[i].state == GROUP_AT_SYNC && groups->group[i].which == barrier)
      lanes |= groups->group[i].mask & members;
  return lanes;
}

/* The barrier of a group that goes on from a BSYNC is cleared: nobody is its member any more. Members that had
 * given way keep nobody else waiting from now on, until they do so again; `but` did so just now. If some members
 * haven't come, nor given way, the lanes of the group's own record leave alone. */
static void clear_barrier(Warp *warp, const LaneGroup *group, uint32_t but) {
  LaneGroups *groups = warp->groups;
  uint32_t lanes = sync_records_present(&groups->sync, group->which, (unsigned)__builtin_ctz(group->mask));
  if (lanes & warp->alive & ~lanes_at_sync(groups, group->which, lanes) & ~group->mask & ~groups->marked)
    lanes &= sync_records_of(&groups->sync, group->which, group->mask);
  groups->marked &= ~lanes | but;
  sync_records_withdraw(&groups->sync, group->which, lanes | group->mask);
}

/* Groups of `leaving` (a mask of their indices) go on behind what they wait at, those at one place as one;
 * `yields` have just given way. They are now the newest. */
static void let_go(Warp *warp, uint32_t leaving, uint64_t from, uint32_t yields) {
  LaneGroups *groups = warp->groups;
  LaneGroup going[WARP_LANES];
  uint32_t count = 0;
  for (uint32_t i = 0; i < groups->count; i++) {
    LaneGroup group = groups->group[i];
    uint32_t same = 0;
    if (!(leaving >> i & 1))
      continue;
    if (group.state == GROUP_AT_SYNC)
      clear_barrier(warp, &group, yields);
    while (same < count && !go_together(&going[same], &group))
      same++;
    if (same == count)
      going[count++] = (LaneGroup){
          .from = from, .pc = group.pc + 1, .state = GROUP_READY, .mode = group.mode, .which = group.which};
    going[same].mask |= group.mask;
  }
  for (uint32_t i = groups->count; i-- > 0;)
    if (leaving >> i & 1)
      drop(groups, i);
  for (uint32_t i = 0; i < count; i++) {
    going[i].mode = 0;
    add(groups, going[i]);
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

/* What a collective of that mask takes, so far: for each place that lanes have come to, and, where PTX doesn't stand
 * for one, for each group that came to a place where others waited already. */
static uint64_t collective_takes(const Issue *issue, uint32_t mask) {
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

static bool some_are(const LaneGroups *groups, GroupState state) {
  for (uint32_t i = 0; i < groups->count; i++)
    if (groups->group[i].state == state)
      return true;
  return false;
}

static bool some_at_collective(const LaneGroups *groups) {
  for (uint32_t i = 0; i < groups->count; i++)
    if (groups->group[i].state == GROUP_AT_WARPSYNC && groups->group[i].mode == WARPSYNC_COLLECTIVE)
      return true;
  return false;
}

static bool some_at_warpsync(const LaneGroups *groups) {
  return some_are(groups, GROUP_AT_WARPSYNC) || some_are(groups, GROUP_AT_MEETING);
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

/* `lanes`, and those for which some of them wait at a WARPSYNC. */
static uint32_t with_awaited(const Warp *warp, uint32_t lanes) {
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
  bool of_members = !yields || with_awaited(warp, members) & yields;
  return ~sync_records_of(&groups->sync, group->which, group->mask) |
         (often && of_members ? groups->marked | kept_by_marked(warp) : 0);
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
    missing = members & warp->alive &
              ~lanes_at_sync(groups, group->which, sync_records_present(&groups->sync, group->which, lane));
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
      add(groups, rest);
    sync_records_withdraw(&groups->sync, group->which, group->mask);
  }
  return leaving;
}

/* Lets go who waits at a BSYNC or WARPSYNC for nobody any more, after `yields` have given way (0: for another
 * reason); and, if nobody can go on, who waits at a BSYNC while a WARPSYNC waits for it. */
static void release_complete(const Issue *issue, uint64_t from, uint32_t yields) {
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
    let_go(issue->warp, leaving, from, yields);
    leaving = some_unmarked_can_run(issue->warp) ? 0 : wanted_elsewhere(groups);
    let_go(issue->warp, leaving, from, 0);
  } while (leaving);
}

void lane_groups_begin(Issue *issue, unsigned barrier, uint32_t lanes) {
  LaneGroups *groups = issue->warp->groups;
  bool used = groups->sync.used[barrier];
  sync_records_begin(&groups->sync, barrier, lanes);
  if (used && groups->count) /* who waited for them there waits no longer */
    release_complete(issue, issue->now, 0);
}

void lane_groups_break(Issue *issue, unsigned barrier, uint32_t lanes) {
  LaneGroups *groups = issue->warp->groups;
  sync_records_withdraw(&groups->sync, barrier, lanes);
  if (groups->count)
    release_complete(issue, issue->now + issue->gpu->machine->sm.lane_groups.sync_latency, 0);
}

/* The running group gives way, and can go on from cycle `from` on (LaneGroup.beside: `beside`); others of its warp
 * may do so now. Who waits for some of its lanes at a BSYNC counts it. */
static void give_way(Issue *issue, uint64_t from, uint64_t beside) {
  LaneGroups *groups = issue->warp->groups;
  uint32_t yields = issue->warp->active;
  for (uint32_t i = 0; i < groups->count; i++) {
    LaneGroup *group = &groups->group[i];
    if (group->state != GROUP_AT_SYNC)
      continue;
    uint32_t members = sync_records_members(&groups->sync, group->which, (unsigned)__builtin_ctz(group->mask));
    group->yields += (with_awaited(issue->warp, members) & yields) != 0;
  }
  groups->marked |= yields;
  issue->warp->active = 0;
  release_complete(issue, issue->now, yields);
  add(groups, (LaneGroup){
                  .from = from, .beside = beside, .pc = issue->warp->pc + 1, .mask = yields, .state = GROUP_YIELDED});
}

/* ---- choosing who runs ---- */

/* The group to run next: the newest that is ready, whenever it can issue; else, of those that have given way and can
 * issue by cycle `soon`, the first that did; without any, the one that can issue first. -1 if none ever can. */
static int choose(const LaneGroups *groups, uint64_t soon) {
  int best = -1;
  for (uint32_t i = 0; i < groups->count; i++) {
    const LaneGroup *group = &groups->group[i], *other = best < 0 ? NULL : &groups->group[best];
    if (group->state == GROUP_READY)
      best = (int)i; /* they stand in the order in which they became so */
    else if (group->state == GROUP_YIELDED && (!other || other->state == GROUP_YIELDED) &&
             (!other || MAX(group->from, soon) < MAX(other->from, soon)))
      best = (int)i;
  }
  return best;
}

/* Group `index` runs, not before cycle `time`. If it gave way, all others that did and go on at the same
 * instruction come along. Returns when it can issue. */
static uint64_t take(Sm *sm, Warp *warp, int index, uint64_t time) {
  LaneGroups *groups = warp->groups;
  LaneGroup group = groups->group[index];
  drop(groups, (uint32_t)index);
  for (uint32_t i = group.state == GROUP_YIELDED ? groups->count : 0; i-- > 0;) {
    const LaneGroup *other = &groups->group[i];
    if (other->state != GROUP_YIELDED || other->pc != group.pc)
      continue;
    group.mask |= other->mask;
    drop(groups, i);
  }
  warp->pc = group.pc;
  warp->active = group.mask;
  sm_set_state(sm, warp, WARP_RUNNING);
  groups->marked &= ~group.mask;
  if (group.beside > group.from && some_at_warpsync(groups))
    group.from = group.beside;
  groups->runs_from = MAX(group.from, time);
  return groups->runs_from;
}

void lane_groups_switch(Issue *issue, uint32_t before) {
  Warp *warp = issue->warp;
  const Machine *machine = issue->gpu->machine;
  if (warp->active || !warp->alive)
    return;
  uint64_t switched = issue->now + machine->sm.lane_groups.switch_latency;
  int index = choose(warp->groups, switched);
  if (index < 0) { /* who waits at a BSYNC for lanes that wait elsewhere need do so no longer */
    release_complete(issue, switched, 0);
    index = choose(warp->groups, switched);
  }
  issue->next_pc = warp->pc;
  issue->sm->stall[warp->slot] = index < 0 ? STALL_BARRIER : STALL_LATENCY;
  if (index < 0) {
    sm_set_state(issue->sm, warp, WARP_AT_BARRIER);
    return;
  }
  const LaneGroup *next = &warp->groups->group[index];
  bool stays = next->mask & before;
  if (next->state == GROUP_YIELDED && some_at_collective(warp->groups))
    switched = MAX(switched, issue->now + machine->sm.encoded.warpsync_beside);
  switched += next->left ? machine->sm.encoded.switch_left : 0;
  switched += stays ? 0 : scheduler_choose(issue, 1);
  uint64_t starts = take(issue->sm, warp, index, stays ? issue->now : switched);
  issue->next = MAX(issue->next, starts);
  issue->next_pc = warp->pc;
}

void lane_groups_sync(Issue *issue, unsigned barrier, uint32_t lanes) {
  Warp *warp = issue->warp;
  LaneGroups *groups = warp->groups;
  uint32_t before = warp->active;
  const Machine *machine = issue->gpu->machine;
  uint64_t done = issue->now + machine->sm.lane_groups.bsync_latency;
  sync_records_join(&groups->sync, barrier, lanes);
  for (uint32_t rest = lanes; rest;) {
    uint32_t members = sync_records_members(&groups->sync, barrier, (unsigned)__builtin_ctz(rest));
    LaneGroup here = {.which = barrier, .mask = members & lanes};
    if (members && members & warp->alive & ~lanes)
      park(warp, GROUP_AT_SYNC, barrier, members & lanes, 0)->yields +=
          (with_awaited(warp, members) & groups->marked) != 0;
    else if (members)
      clear_barrier(warp, &here, 0);
    rest &= members ? ~members : rest - 1;
  }
  issue->next = MAX(issue->next, done);
  if (warp->active == before)
    return;
  release_complete(issue, done, 0);
  lane_groups_switch(issue, before);
}

/* PTX says WARPSYNC where ptxas leads lanes that aren't together to a WARPSYNC.COLLECTIVE elsewhere: BRA.DIV,
 * ENDCOLLECTIVE, BSYNC, BRA. */
static uint32_t collective_way(const Machine *machine) {
  return 2 * machine->sm.latency.branch_taken + machine->sm.encoded.branch_indirect +
         machine->sm.lane_groups.bsync_latency;
}

void lane_groups_warpsync(Issue *issue, const uint32_t members[WARP_LANES], uint32_t lanes) {
  Warp *warp = issue->warp;
  uint32_t before = warp->active;
  uint32_t mode = issue->inst->mode, first = members[__builtin_ctz(lanes)];
  const Machine *machine = issue->gpu->machine;
  uint64_t done = issue->now + machine->sm.lane_groups.sync_latency;
  bool waits = lanes != before || some_are(warp->groups, GROUP_AT_WARPSYNC);
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    waits = waits || members[lane] & warp->alive & ~lanes || (goes_by_mask(mode) && members[lane] != first);
    if (mode == WARPSYNC_COLLECTIVE)
      warp->groups->comes_back[lane] = (uint32_t)issue->inst->target;
  }
  issue->next = MAX(issue->next, done);
  if (!waits) { /* all are here */
    members_tell_sync(issue, lanes, members);
    members_tell(issue, warp->pc, lanes, members, 0);
    return;
  }
  for (uint32_t rest = lanes; rest;) {
    uint32_t mask = members[__builtin_ctz(rest)], alike = 0;
    for (uint32_t others = rest; others; others &= others - 1)
      alike |= members[__builtin_ctz(others)] == mask ? others & -others : 0;
    park(warp, GROUP_AT_WARPSYNC, mask, alike, mode);
    rest &= ~alike;
  }
  done += scheduler_converge(issue);
  if (mode == WARPSYNC_COLLECTIVE || !issue->encoded)
    done += collective_takes(issue, first);
  if (!issue->encoded && machine->sm.encoded.collective)
    done += collective_way(machine);
  release_complete(issue, done, 0);
  lane_groups_switch(issue, before);
}

void lane_groups_end_collective(Issue *issue, uint32_t lanes) {
  lane_groups_scatter(issue, lanes, issue->warp->groups->comes_back);
}

void lane_groups_save(Issue *issue, unsigned barrier, uint32_t lanes) {
  issue->warp->groups->sync.saved[barrier] |= lanes;
}

void lane_groups_restore(Issue *issue, unsigned barrier, const uint32_t members[WARP_LANES], uint32_t lanes) {
  LaneGroups *groups = issue->warp->groups;
  for (uint32_t rest = lanes; rest;) {
    uint32_t record = members[__builtin_ctz(rest)], alike = 0;
    for (uint32_t others = rest; others; others &= others - 1)
      alike |= members[__builtin_ctz(others)] == record ? others & -others : 0;
    if (record)
      sync_records_restore(&groups->sync, barrier, record, alike, issue->warp->alive);
    else
      sync_records_withdraw(&groups->sync, barrier, alike);
    rest &= ~alike;
  }
}

void lane_groups_meet(Issue *issue, uint32_t lanes) {
  Warp *warp = issue->warp;
  uint32_t before = warp->active;
  const Machine *machine = issue->gpu->machine;
  uint64_t done = issue->now + machine->sm.lane_groups.sync_latency;
  issue->next = MAX(issue->next, done);
  if (lanes == warp->alive) {
    ProbePoint point = issue_point(issue, lanes);
    PROBE_FIRE(issue->gpu, warp_sync, &point);
    return;
  }
  park(warp, GROUP_AT_MEETING, ALL_LANES, lanes, 0);
  uint64_t waits = scheduler_converge(issue);
  release_complete(issue, done + waits + machine->sm.encoded.meeting, 0);
  lane_groups_switch(issue, before);
}

bool lane_groups_sleep(Issue *issue, uint64_t until, uint64_t beside, uint64_t away) {
  Warp *warp = issue->warp;
  LaneGroups *groups = warp->groups;
  uint32_t before = warp->active;
  uint64_t from = MAX(issue->next, until), soon = issue->now + away;
  if (groups->count == 0) { /* nobody else is there to run */
    issue->next = groups->runs_from = from;
    return false;
  }
  give_way(issue, from, beside);
  int index = choose(groups, soon);
  if (groups->group[index].state == GROUP_READY) {
    lane_groups_switch(issue, before);
    return false;
  }
  issue->next = take(issue->sm, warp, index, soon);
  issue->next_pc = warp->pc;
  return some_at_warpsync(groups);
}

bool lane_groups_give_way(Issue *issue, const YieldCost *cost) {
  Warp *warp = issue->warp;
  LaneGroups *groups = warp->groups;
  uint32_t before = warp->active;
  uint64_t from = MAX(issue->next, issue->now + cost->away);
  if (groups->count) {
    give_way(issue, from, from);
    int index = choose(groups, from);
    bool itself = groups->group[index].mask & before && groups->count > 1;
    if (groups->group[index].state == GROUP_READY)
      from = MAX(issue->next, issue->now + cost->ready);
    issue->next = take(issue->sm, warp, index, itself ? issue->now + cost->back : from);
    issue->next_pc = warp->pc;
    return itself;
  }
  issue->next = groups->runs_from = from;
  return false;
}

void lane_groups_wait_at_barrier(Warp *warp, unsigned id, uint32_t lanes) {
  park(warp, GROUP_AT_BARRIER, id, lanes, 0);
}

void lane_groups_lanes_exited(Issue *issue) {
  if (issue->warp->groups->count)
    release_complete(issue, issue->now + issue->gpu->machine->sm.lane_groups.sync_latency, 0);
}

void lane_groups_barrier_done(Warp *warp, unsigned id, uint64_t resume) {
  LaneGroups *groups = warp->groups;
  for (uint32_t i = 0; i < groups->count; i++) {
    LaneGroup *group = &groups->group[i];
    if (group->state != GROUP_AT_BARRIER || group->which != id)
      continue;
    group->state = GROUP_READY;
    group->pc++;
    group->from = resume;
  }
}

void lane_groups_wake(Sm *sm, Warp *warp, uint64_t now) {
  LaneGroups *groups = warp->groups;
  if (warp->state == WARP_RUNNING) {
    int index = choose(groups, now);
    if (warp->drains || warp->awaits || warp->awaits_loads || warp_set_has(sm->crowded, warp->slot) ||
        groups->runs_from <= now || index < 0 || groups->group[index].from >= groups->runs_from)
      return;
    sm_suspend(sm, warp);
    groups->marked |= warp->active;
    add(groups, (LaneGroup){.from = groups->runs_from, .pc = warp->pc, .mask = warp->active, .state = GROUP_YIELDED});
  }
  int index = choose(groups, now);
  if (index >= 0)
    sm_resume(sm, warp, take(sm, warp, index, now));
}
