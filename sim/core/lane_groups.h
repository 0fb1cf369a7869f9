/* lane_groups.h - divergence with convergence barriers (`sm.convergence: barrier`, Volta and later).
 * Models: a warp is a set of lane groups, each with a program counter. One runs (Warp.pc, Warp.active); the others
 * are ready, asleep, or wait at a BSYNC, a WARPSYNC or a block barrier. The running group is left only where it
 * stops: at YIELD, NANOSLEEP, BSYNC, WARPSYNC, a block barrier or EXIT. A group that spins without one of these holds
 * its warp for ever.
 * Of a divergent branch's two ways the smaller goes first, of an indirect branch's that of the lowest lane. The next
 * group is the newest that is ready: the one that was left behind, or let go, last. Who gives way by a YIELD or
 * NANOSLEEP runs again when nobody else is ready, the first to give way first. (An H200:
 * validation/hardware/lanes.cu, orders.cu.) Groups become one at a BSYNC or a WARPSYNC that they leave together, and
 * where one is chosen to run that gave way: all that gave way and go on at its instruction come along. A running
 * group takes up nobody by coming to an instruction.
 * Convergence barriers (sync_records.h): who comes to a BSYNC waits for all members of that barrier. Members that
 * have given way are marked until they run again, and not waited for once nobody can go on who isn't marked. Then the
 * barrier is cleared: nobody is its member any more, and its members' marks go, but for that of who has just given
 * way. If a group gave way before where the warp does so now, that one runs first, and who waits is due: it goes
 * before those that give way later. (lane_waits.h; an H200: validation/hardware/lane_locks.cu.)
 * WARPSYNCs of one mask match wherever they stand, and let lanes of it go that wait at a BSYNC, once nobody can go on
 * who isn't marked; a WARPSYNC.ALL matches itself only.
 * Does not model: a scoreboard for each group (registers that one group waits for hold up the others, too).
 * Ownership: an Sm owns the LaneGroups of its warps. */
#ifndef LOCKSTEP_CORE_LANE_GROUPS_H
#define LOCKSTEP_CORE_LANE_GROUPS_H

#include "sim/core/lane_group.h"
#include "sim/core/state.h"

void lane_groups_reset(LaneGroups *groups);
/* A branch whose lanes go two ways: `taken` to instruction `target`, the rest of the running group to `behind`. */
void lane_groups_diverge(Issue *issue, uint32_t taken, uint32_t target, uint32_t behind);
/* The running group's lanes `lanes` go to target[lane] each, the others to the next instruction. Returns how many
 * ways that are. */
uint32_t lane_groups_scatter(Issue *issue, uint32_t lanes, const uint32_t target[WARP_LANES]);
/* ENDCOLLECTIVE: `lanes` of the running group go where their WARPSYNC.COLLECTIVE said. */
void lane_groups_end_collective(Issue *issue, uint32_t lanes);
/* BMOV: `lanes` keep in a register who takes part in convergence barrier `barrier` with them; and the way back:
 * `lanes` take part in it, those with the same members[lane] together. */
void lane_groups_save(Issue *issue, unsigned barrier, uint32_t lanes);
void lane_groups_restore(Issue *issue, unsigned barrier, const uint32_t members[WARP_LANES], uint32_t lanes);
/* BSSY: `lanes` take part in convergence barrier `barrier`. */
void lane_groups_begin(Issue *issue, unsigned barrier, uint32_t lanes);
/* BREAK: `lanes` take part in it no longer; who waited only for them goes on. */
void lane_groups_break(Issue *issue, unsigned barrier, uint32_t lanes);
/* BSYNC: `lanes` of the running group wait, or go on if nobody is waited for. */
void lane_groups_sync(Issue *issue, unsigned barrier, uint32_t lanes);
/* WARPSYNC of `lanes` of the running group; members[lane] is the mask that the lane waits for. The instruction's mode
 * says more (isa/program.h, WarpsyncMode). */
void lane_groups_warpsync(Issue *issue, const uint32_t members[WARP_LANES], uint32_t lanes);
/* WARPSYNC.ALL of `lanes` of the running group. */
void lane_groups_meet(Issue *issue, uint32_t lanes);
/* NANOSLEEP up to cycle `until`, or `beside` if others wait at a WARPSYNC then: another group may run, and one that
 * gave way `away` cycles from now. Returns true if none can but for this one, and others wait at a WARPSYNC. */
bool lane_groups_sleep(Issue *issue, uint64_t until, uint64_t beside, uint64_t away);
/* What a YIELD of machine code takes until the chosen group goes on, in cycles: one that hasn't given way; one that
 * has; and this one, if there are others and none of them can. */
typedef struct YieldCost {
  uint64_t ready, away, back;
} YieldCost;
/* YIELD of machine code: another group goes on, or this one. True if it is this one, and there are others. */
bool lane_groups_give_way(Issue *issue, const YieldCost *cost);
/* `lanes` of the running group wait at block barrier `id`; lane_groups_switch() is to follow. */
void lane_groups_wait_at_barrier(Warp *warp, unsigned id, uint32_t lanes);
/* Lanes have exited (Warp.alive says which haven't): who waited only for them goes on. */
void lane_groups_lanes_exited(Issue *issue);
/* If no group runs any more, the next one does; `before`: the lanes that ran last. Without one the warp waits. */
void lane_groups_switch(Issue *issue, uint32_t before);
/* Block barrier `id` is complete: its groups can go on at cycle `resume`. */
void lane_groups_barrier_done(Warp *warp, unsigned id, uint64_t resume);
/* After that, for a warp that isn't issuing now: wakes it if it waits, or sleeps for longer than it needs to. */
void lane_groups_wake(Sm *sm, Warp *warp, uint64_t now);

#endif
