/* explore_step.h - one step of one lane: every state that may follow a state. */
#ifndef LOCKSTEP_DETECT_EXPLORE_STEP_H
#define LOCKSTEP_DETECT_EXPLORE_STEP_H

#include "sim/detect/explore.h"

/* The exploration of one lane while it runs. */
typedef struct LaneWalk {
  Explorer *explorer;
  WarpView *view;
  unsigned lane;
  const Assumption *assumption;
  Footprint *footprint;
  LaneReach reach;
} LaneWalk;

/* Adds to the view's state set every state that may follow `state`, and to the walk what it reaches. */
void explore_step(LaneWalk *walk, const LaneState *state);
/* Lets a lane that has come to `state` join where its path ends (it stands on a convergence point), then adds it. */
void explore_enter(LaneWalk *walk, LaneState state);
/* The lane arrives at entry `index` of the warp's own stack and would go on at that entry's target. */
void explore_arrive(LaneWalk *walk, LaneState state, uint32_t index);

#endif
