/* lane_memo.h - lanes that are alike are explored once.
 *
 * Two lanes at one instruction whose registers and predicates agree, as far as the instructions that one of them came to read
 * them, explore alike: what differs is only carried along. So what the first one reached, changed and would be woken by holds for
 * the second. Between lanes of one warp that needs stack entries and groups that hold both or neither, and an exploration that
 * didn't ask which lane it is; between warps of a kernel's launch, one that touched only global memory, asked nothing that depends
 * on the warp, and whose words hold what they held. */
#ifndef LOCKSTEP_DETECT_PROOF_LANE_MEMO_H
#define LOCKSTEP_DETECT_PROOF_LANE_MEMO_H

#include "sim/detect/proof/explore_step.h"

typedef struct LaneMemo LaneMemo;

LaneMemo *lane_memo_new(void);
void lane_memo_free(LaneMemo *memo);
/* Forgets all. */
void lane_memo_clear(LaneMemo *memo);
/* Forgets what holds for one warp only: another one is explored, or the same again. */
void lane_memo_next_warp(LaneMemo *memo);
/* Keeps the exploration of a lane that has just ended; its states are still in the kernel's set. */
void lane_memo_keep(LaneMemo *memo, const LaneWalk *walk, const LaneState *start);
/* If an exploration is known that holds for this lane, does to the lane and its view what that did: true; *reach is what it
 * reached. */
bool lane_memo_repeat(LaneMemo *memo, Explorer *explorer, WarpView *view, unsigned lane, const LaneState *start,
                      LaneReach *reach);

#endif
