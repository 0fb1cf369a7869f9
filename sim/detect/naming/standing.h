/* standing.h - where the threads stand when a limit comes before a verdict: groups of threads by line and by what they do. */
#ifndef LOCKSTEP_DETECT_NAMING_STANDING_H
#define LOCKSTEP_DETECT_NAMING_STANDING_H

#include "sim/core/gpu.h"
#include "sim/detect/naming/finding.h"
#include "sim/engine/stop.h"

/* A note with a group in each line of evidence, the largest first. */
Finding *standing_report(const Gpu *gpu, StopReason reason);

/* Evidence for each launch, up to four, whose blocks haven't all started though nothing before it in its stream runs:
 * how many. */
void standing_add_unstarted(const Gpu *gpu, Finding *finding);

#endif
