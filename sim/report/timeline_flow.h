/* timeline_flow.h - arrows of a timeline from a release to those who acquire: from the instruction that released to
 * the cycle in which a request of another warp reads the word that it changed.
 * A release is a store or atomic operation that is one (.release, .acq_rel, beyond the block), or the first that a
 * warp sends behind a fence. A warp gets one arrow from each, when it first finds the word as the release left it, as
 * long as nobody else has changed it. What a copy in an L1 gives isn't looked at.
 * Both ends of an arrow are written together. */
#ifndef LOCKSTEP_REPORT_TIMELINE_FLOW_H
#define LOCKSTEP_REPORT_TIMELINE_FLOW_H

#include "sim/core/probe.h"
#include "sim/report/timeline_file.h"

typedef struct TimelineFlow TimelineFlow;

TimelineFlow *timeline_flow_new(TimelineFile *file);
void timeline_flow_free(TimelineFlow *flow);
/* The run was started over. */
void timeline_flow_restart(TimelineFlow *flow);
/* The warp of that track fences, or issues an access of global memory that changes words. */
void timeline_flow_fence(TimelineFlow *flow, uint32_t track);
void timeline_flow_change(TimelineFlow *flow, const ProbePoint *point, uint64_t number, uint32_t track);
/* A part of an access of that warp was performed. */
void timeline_flow_part(TimelineFlow *flow, const ProbePart *part, uint32_t track);

#endif
