/* lane_order.h - which accesses of its own warp's lanes each lane comes after, on machines whose lanes don't run in
 * lock-step (`sm.convergence: barrier`). Times are those of the warp in its vector clock: an access is known up to them.
 * A sync of the whole warp costs nothing; the table by lanes is made at the first sync or hand-off of some lanes. */
#ifndef LOCKSTEP_DETECT_RACE_LANE_ORDER_H
#define LOCKSTEP_DETECT_RACE_LANE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/core/warp.h"

typedef struct LaneOrder {
  uint32_t floor;                /* every lane knows every lane up to here */
  bool by_lanes;                 /* `known` counts, too */
  uint32_t (*known)[WARP_LANES]; /* [who][whom]; NULL: not needed yet. Owned */
} LaneOrder;

void lane_order_reset(LaneOrder *order);
void lane_order_free(LaneOrder *order);
/* `lanes` wait for each other at `time`; `alive`: those that the warp has. */
void lane_order_sync(LaneOrder *order, uint32_t lanes, uint32_t alive, uint32_t time);
/* `lanes` learn what the warp did up to `time`. */
void lane_order_learn(LaneOrder *order, uint32_t lanes, uint32_t time);
/* `lanes` take turns, the lowest first: each learns, in `order`, what those before it hand on that are among
 * `giving`: what they did up to `time`, and what they know by `known`. */
void lane_order_take_turns(LaneOrder *order, const LaneOrder *known, uint32_t lanes, uint32_t giving, uint32_t time);
/* `lanes` learn what they know by `other`. */
void lane_order_join(LaneOrder *order, const LaneOrder *other, uint32_t lanes);
/* True if an access of `earlier` lanes at `time` comes before one of `lanes`; each lane's own do. */
bool lane_order_knows(const LaneOrder *order, uint32_t lanes, uint32_t earlier, uint32_t time);

#endif
