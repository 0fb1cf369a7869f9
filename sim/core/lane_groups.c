#include "sim/core/lane_groups.h"

#include "base/assert.h"
#include "base/bits.h"
#include "sim/core/lane_waits.h"
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
  memset(groups->sync.freed, 0, sizeof groups->sync.freed);
  memset(groups->comes_back, 0, sizeof groups->comes_back);
  memset(groups->come, 0, sizeof groups->come);
  memset(groups->executed, 0, sizeof groups->executed);
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
  lane_waits_add(warp->groups,
                 (LaneGroup){.from = issue->now, .pc = pc[!first], .mask = mask[!first], .state = GROUP_READY});
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
    lane_waits_add(warp->groups, way[i]);
  warp->pc = way[0].pc;
  warp->active = way[0].mask;
  return count;
}

void lane_groups_begin(Issue *issue, unsigned barrier, uint32_t lanes) {
  LaneGroups *groups = issue->warp->groups;
  bool used = groups->sync.used[barrier];
  sync_records_begin(&groups->sync, barrier, lanes);
  if (used && groups->count) /* who waited for them there waits no longer */
    lane_waits_release(issue, issue->now, 0);
}

void lane_groups_break(Issue *issue, unsigned barrier, uint32_t lanes) {
  LaneGroups *groups = issue->warp->groups;
  sync_records_withdraw(&groups->sync, barrier, lanes);
  if (groups->count)
    lane_waits_release(issue, issue->now + issue->gpu->machine->sm.lane_groups.sync_latency, 0);
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
    group->yields += (lane_waits_with_awaited(issue->warp, members) & yields) != 0;
  }
  groups->marked |= yields;
  issue->warp->active = 0;
  lane_waits_release(issue, issue->now, yields);
  lane_waits_add(groups, (LaneGroup){.from = from,
                                     .beside = beside,
                                     .pc = issue->warp->pc + 1,
                                     .mask = yields,
                                     .state = GROUP_YIELDED,
                                     .was_beside = lane_waits_some_at_warpsync(groups)});
}

/* ---- choosing who runs ---- */

/* The group to run next: the newest that is ready, whenever it can issue; else, of those that have given way and can
 * issue by cycle `soon` or are due, the first; without any, the one that can issue first. -1 if none ever can. */
static int first_choice(const LaneGroups *groups, uint64_t soon) {
  int best = -1;
  for (uint32_t i = 0; i < groups->count; i++) {
    const LaneGroup *group = &groups->group[i], *other = best < 0 ? NULL : &groups->group[best];
    if (group->state == GROUP_READY)
      best = (int)i; /* they stand in the order in which they became so */
    else if ((group->state == GROUP_YIELDED || group->due) && (!other || other->state != GROUP_READY) &&
             (!other || MAX(group->from, soon) < MAX(other->from, soon)))
      best = (int)i;
  }
  return best;
}

/* The same; if it is due at a BSYNC, all that are due there are ready first. `yields` have just given way. */
static int choose(Warp *warp, uint64_t soon, uint32_t yields) {
  LaneGroups *groups = warp->groups;
  int index = first_choice(groups, soon);
  if (index < 0 || groups->group[index].state != GROUP_AT_SYNC)
    return index;
  uint32_t which = groups->group[index].which, leaving = 0;
  for (uint32_t i = 0; i < groups->count; i++)
    leaving |= groups->group[i].due && groups->group[i].which == which ? 1u << i : 0;
  lane_waits_let_go(warp, leaving, 0, yields);
  return first_choice(groups, soon);
}

/* Group `index` runs, not before cycle `time`. If it gave way, all others that did and go on at the same
 * instruction come along. Returns when it can issue. */
static uint64_t take(Sm *sm, Warp *warp, int index, uint64_t time) {
  LaneGroups *groups = warp->groups;
  LaneGroup group = groups->group[index];
  lane_waits_drop(groups, (uint32_t)index);
  for (uint32_t i = group.state == GROUP_YIELDED ? groups->count : 0; i-- > 0;) {
    const LaneGroup *other = &groups->group[i];
    if (other->state != GROUP_YIELDED || other->pc != group.pc)
      continue;
    group.mask |= other->mask;
    lane_waits_drop(groups, i);
  }
  warp->pc = group.pc;
  warp->active = group.mask;
  sm_set_state(sm, warp, WARP_RUNNING);
  groups->marked &= ~group.mask;
  if (group.beside > group.from && lane_waits_some_at_warpsync(groups))
    group.from = group.beside;
  groups->runs_from = MAX(group.from, time);
  return groups->runs_from;
}

/* How much later a group goes on that gave way, beside others at a WARPSYNC that isn't a collective. */
static uint64_t yielded_beside(const Machine *machine, const LaneGroup *group) {
  uint32_t alone = machine->sm.encoded.yield, beside = MAX(machine->sm.encoded.yield_beside, alone);
  return machine->sm.encoded.yielded_beside + (group->was_beside ? beside - alone : 0);
}

void lane_groups_switch(Issue *issue, uint32_t before) {
  Warp *warp = issue->warp;
  const Machine *machine = issue->gpu->machine;
  if (warp->active || !warp->alive)
    return;
  uint64_t switched = issue->now + machine->sm.lane_groups.switch_latency;
  int index = choose(warp, switched, 0);
  if (index < 0) { /* who waits at a BSYNC for lanes that wait elsewhere need do so no longer */
    lane_waits_release(issue, switched, 0);
    index = choose(warp, switched, 0);
  }
  issue->next_pc = warp->pc;
  issue->sm->stall[warp->slot] = index < 0 ? STALL_BARRIER : STALL_LATENCY;
  if (index < 0) {
    sm_set_state(issue->sm, warp, WARP_AT_BARRIER);
    return;
  }
  const LaneGroup *next = &warp->groups->group[index];
  bool stays = next->mask & before;
  if (next->state == GROUP_YIELDED && lane_waits_some_at_collective(warp->groups))
    switched = MAX(switched, issue->now + machine->sm.encoded.warpsync_beside);
  else if (next->state == GROUP_YIELDED && lane_waits_some_at_warpsync(warp->groups))
    switched += yielded_beside(machine, next);
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
  uint32_t freed = groups->sync.freed[barrier] & lanes;
  sync_records_join(&groups->sync, barrier,
                    freed && !lane_waits_completes(warp, barrier, lanes) ? lanes & ~freed : lanes);
  for (uint32_t rest = lanes; rest;) {
    uint32_t members = sync_records_members(&groups->sync, barrier, (unsigned)__builtin_ctz(rest));
    LaneGroup here = {.which = barrier, .mask = members & lanes};
    if (members && members & warp->alive & ~lanes)
      lane_waits_park(warp, GROUP_AT_SYNC, barrier, members & lanes, 0)->yields +=
          (lane_waits_with_awaited(warp, members) & groups->marked) != 0;
    else if (members)
      lane_waits_clear(warp, &here, 0);
    rest &= members ? ~members : rest - 1;
  }
  issue->next = MAX(issue->next, done);
  if (warp->active == before)
    return;
  lane_waits_release(issue, done, 0);
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
  bool waits = lanes != before || lane_waits_some_are(warp->groups, GROUP_AT_WARPSYNC);
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    waits =
        waits || members[lane] & warp->alive & ~lanes || (lane_waits_goes_by_mask(mode) && members[lane] != first);
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
    lane_waits_park(warp, GROUP_AT_WARPSYNC, mask, alike, mode);
    rest &= ~alike;
  }
  done += scheduler_converge(issue);
  if (mode == WARPSYNC_COLLECTIVE || !issue->encoded)
    done += lane_waits_collective_takes(issue, first);
  if (!issue->encoded && machine->sm.encoded.collective)
    done += collective_way(machine);
  lane_waits_release(issue, done, 0);
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
  lane_waits_park(warp, GROUP_AT_MEETING, ALL_LANES, lanes, 0);
  uint64_t waits = scheduler_converge(issue);
  lane_waits_release(issue, done + waits + machine->sm.encoded.meeting, 0);
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
  int index = choose(warp, soon, before);
  if (groups->group[index].state == GROUP_READY) {
    lane_groups_switch(issue, before);
    return false;
  }
  issue->next = take(issue->sm, warp, index, soon);
  issue->next_pc = warp->pc;
  return lane_waits_some_at_warpsync(groups);
}

bool lane_groups_give_way(Issue *issue, const YieldCost *cost) {
  Warp *warp = issue->warp;
  LaneGroups *groups = warp->groups;
  uint32_t before = warp->active;
  uint64_t from = MAX(issue->next, issue->now + cost->away);
  if (groups->count) {
    give_way(issue, from, from);
    int index = choose(warp, from, before);
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
  lane_waits_park(warp, GROUP_AT_BARRIER, id, lanes, 0);
}

void lane_groups_lanes_exited(Issue *issue) {
  if (issue->warp->groups->count)
    lane_waits_release(issue, issue->now + issue->gpu->machine->sm.lane_groups.sync_latency, 0);
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
    int index = first_choice(groups, now);
    if (warp->drains || warp->awaits || warp->awaits_loads || warp_set_has(sm->crowded, warp->slot) ||
        groups->runs_from <= now || index < 0 || groups->group[index].from >= groups->runs_from)
      return;
    sm_suspend(sm, warp);
    groups->marked |= warp->active;
    lane_waits_add(
        groups, (LaneGroup){.from = groups->runs_from, .pc = warp->pc, .mask = warp->active, .state = GROUP_YIELDED});
  }
  int index = choose(warp, now, 0);
  if (index >= 0)
    sm_resume(sm, warp, take(sm, warp, index, now));
}
