/* lane_waits.h - the groups of a warp's lanes that don't run: who waits at a BSYNC or WARPSYNC, for whom, and who is
 * let go. lane_groups.c chooses who runs.
 * Models: warps.md, "Lane groups" (validation/hardware/lanes.cu, orders.cu, yield_release.cu, lane_locks.cu).
 * Time: what a collective takes; else the callers say from when on who is let go can issue. */
#ifndef LOCKSTEP_CORE_LANE_WAITS_H
#define LOCKSTEP_CORE_LANE_WAITS_H

#include "sim/core/exec.h"
#include "sim/core/lane_group.h"

/* Adds a group, behind the others. Valid until the next one is added or dropped. */
LaneGroup *lane_waits_add(LaneGroups *groups, LaneGroup group);
/* Drops group `index`. The others keep their order. */
void lane_waits_drop(LaneGroups *groups, uint32_t index);
/* `lanes` of the running group wait; at a BSYNC or WARPSYNC together with those that wait there already for the
 * same. */
LaneGroup *lane_waits_park(Warp *warp, GroupState state, uint32_t which, uint32_t lanes, uint32_t mode);
/* True for a WARPSYNC whose lanes of one mask go on by themselves. */
bool lane_waits_goes_by_mask(uint32_t mode);
/* The barrier of a group that goes on from a BSYNC is cleared: nobody is its member any more. Members that had
 * given way keep nobody else waiting from now on, until they do so again; `but` did so just now. If some members
 * haven't come, nor given way, the lanes of the group's own record leave alone. */
void lane_waits_clear(Warp *warp, const LaneGroup *group, uint32_t but);
/* Groups of `leaving` (a mask of their indices) go on behind what they wait at, those at one place as one;
 * `yields` have just given way. They are now the newest. */
void lane_waits_let_go(Warp *warp, uint32_t leaving, uint64_t from, uint32_t yields);
/* What a collective of that mask takes, so far: for each place that lanes have come to, and, where PTX doesn't stand
 * for one, for each group that came to a place where others waited already. */
uint64_t lane_waits_collective_takes(const Issue *issue, uint32_t mask);
bool lane_waits_some_are(const LaneGroups *groups, GroupState state);
bool lane_waits_some_at_collective(const LaneGroups *groups);
bool lane_waits_some_at_warpsync(const LaneGroups *groups);
/* `lanes`, and those for which some of them wait at a WARPSYNC. */
uint32_t lane_waits_with_awaited(const Warp *warp, uint32_t lanes);
/* Lets go who waits at a BSYNC or WARPSYNC for nobody any more, after `yields` have given way (0: for another
 * reason); and, if nobody can go on, who waits at a BSYNC while a WARPSYNC waits for it. */
void lane_waits_release(const Issue *issue, uint64_t from, uint32_t yields);
/* True if no member of the barrier that one of the lanes is a member of is missing there once they have come. */
bool lane_waits_completes(const Warp *warp, unsigned barrier, uint32_t lanes);

#endif
