/* lane_holes.h - what a fence or release of some lanes doesn't hand on of the other lanes of their warp.
 *
 * A vector clock has one time for a warp, and who knows it knows what all its lanes did up to then. By the memory
 * model of PTX a fence or release is of the lanes that execute it: what others did comes before it only if they have
 * met these since (`__syncwarp()`). Such a fence makes a hole: of those others, what they did since it was handed on
 * or all lanes met, until a later fence or release that has it, or a block barrier.
 * A lane that hands on by a strong write behind its fence does so for what came before that fence, and what another
 * lane did, and fenced, came before it only if they met: so such a write makes a hole, too, of what other lanes have
 * done and fenced since they last met, or handed on themselves. It ends when they meet and one of them hands on.
 * Only accesses that aren't strong fall into holes. Generous: lanes that have met only some others have met all of
 * them. Bounded: LANE_HOLES_MAX of a warp; the oldest are forgotten, so that a race can be missed. */
#ifndef LOCKSTEP_DETECT_RACE_LANE_HOLES_H
#define LOCKSTEP_DETECT_RACE_LANE_HOLES_H

#include "sim/detect/race/warp_order.h"

enum { LANE_HOLES_MAX = 32 };

typedef struct LaneHoles {
  GPtrArray *of_actor; /* its holes, or NULL */
  bool any;
} LaneHoles;

void lane_holes_init(LaneHoles *holes);
void lane_holes_clear(LaneHoles *holes);
/* Lanes of the warp are about to make accesses that aren't strong. */
void lane_holes_note(WarpOrder *warp, uint32_t lanes);
/* `lanes` of the warp, each of which goes on by itself, are about to fence. */
void lane_holes_fence(WarpOrder *warp, uint32_t lanes);
/* `lanes` of the warp are about to hand on by a strong write. */
void lane_holes_hand_on(LaneHoles *holes, WarpOrder *warp, uint32_t lanes);
/* `lanes` of the warp fence or release at its present time. Those that have exited before haven't met them. */
void lane_holes_release(LaneHoles *holes, WarpOrder *warp, uint32_t lanes);
/* All that the warp did up to its present time is handed on. */
void lane_holes_end(LaneHoles *holes, WarpOrder *warp);
/* Of `earlier`, which isn't strong, some lanes are in a hole for whoever knows their warp up to that time. */
bool lane_holes_hide(const LaneHoles *holes, const Access *earlier, uint32_t known);

#endif
