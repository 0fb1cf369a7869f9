/* opens.h - what lets lanes go on that wait now: block barriers and entries of the SIMT stack (explore_groups.h has the lane
 * groups), and so where a lane's exploration starts. */
#ifndef LOCKSTEP_DETECT_PROOF_OPENS_H
#define LOCKSTEP_DETECT_PROOF_OPENS_H

#include "sim/detect/proof/view.h"

/* True if that barrier of the warp's block may complete, given what all warps of the block may do. Who asks is explored again
 * when they may do more. */
bool explorer_barrier_opens(const WarpView *view, uint32_t id);
/* Finds out which launches' blocks may all come to SYNCBLOCKS, and which clusters' to their barrier, and wakes those
 * who wait there. True if there is one more; to be asked when all warps are explored. */
bool view_update_meets(Explorer *explorer);
/* Opens the stack entries above which no lane is sure to stay. True if that is news. */
bool view_update_open(WarpView *view);
/* True if the lane may go on now, by what is known so far: it is on the running path, or its entry is open, or its group may go
 * on. */
bool explorer_lane_runs(const WarpView *view, unsigned lane);
/* The state that a lane goes on from. */
void explorer_start(const WarpView *view, unsigned lane, LaneState *start);
/* Its instruction. */
uint32_t explorer_start_pc(const WarpView *view, unsigned lane);

#endif
