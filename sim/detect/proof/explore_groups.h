/* explore_groups.h - lane groups (sim/core/lane_groups.h) in the proof: when a lane that doesn't run now may do so.
 *
 * - The lanes of the running group run. All others need their turn: it comes if nobody runs, or if some lane of the
 *   running group may come to a point where it stops.
 * - At a BSYNC: each other lane of the record may come to a BSYNC of that barrier (or leave it by a BREAK or another
 *   BSSY) or exit; or some lane of the warp may yield, or has and hasn't run since, or may come to a WARPSYNC.
 * - At a WARPSYNC: each lane of the mask may come to a WARPSYNC of that mask, or exit. At a WARPSYNC.ALL: each lane
 *   may come to that one, or exit.
 * - A BSYNC is no such point if only lanes of the running group meet there: of groups that are ready the newest goes
 *   first, so these lanes come there one after the other before anybody else.
 * - At a block barrier: the barrier may complete.
 * A lane that comes to a BSYNC behind a BSSY or BREAK of the exploration itself passes: whom it would meet isn't
 * known. All of this admits more than the machine does. */
#ifndef LOCKSTEP_DETECT_PROOF_EXPLORE_GROUPS_H
#define LOCKSTEP_DETECT_PROOF_EXPLORE_GROUPS_H

#include "sim/core/lane_groups.h"
#include "sim/detect/proof/view.h"

/* The group that a lane is in, NULL if that is the running one. */
const LaneGroup *explore_group_of(const WarpView *view, unsigned lane);
/* The running group, and those that wait at a BSYNC for lanes of it only: they go on with it before any other group
 * gets a turn. */
uint32_t explore_lanes_together(const Warp *warp);
/* Notes what the lanes of a new view have reached by where they wait. */
void explore_groups_init(WarpView *view);
/* The lanes that a lane which comes to a BSYNC of `barrier`, a WARPSYNC of `mask`, or the WARPSYNC.ALL at `pc` has to
 * wait for and that can't come, besides those of `waiting`; 0 if it may go on. */
uint32_t explore_missing_at_sync(const WarpView *view, unsigned barrier, uint32_t waiting);
uint32_t explore_missing_at_warpsync(const WarpView *view, uint32_t mask);
uint32_t explore_missing_at_meeting(const WarpView *view, uint32_t pc);
/* True if lanes have come to block barrier `id` by BAR.ARV, and their warp hasn't arrived with them yet: it may, and
 * they may come again. */
bool explore_groups_signalled(const WarpView *view, uint32_t id);
/* True if the warp may arrive at block barrier `id` once more before it completes. */
bool explore_groups_may_arrive(const WarpView *view, uint32_t id);
/* True if the warp may switch to another group than the running one. */
bool explore_turn_comes(const WarpView *view);
/* The lanes that a group at a BSYNC or WARPSYNC waits for and that can't come; 0 if it may go on. */
uint32_t explore_group_misses(const WarpView *view, const LaneGroup *group);

#endif
