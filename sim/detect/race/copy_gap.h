/* copy_gap.h - races with an asynchronous copy that nobody has waited for: its accesses belong to the thread that
 * began it, but come until that thread has waited for its group, or others for the phase of its mbarrier (PTX ISA,
 * asynchronous copies). */
#ifndef LOCKSTEP_DETECT_RACE_COPY_GAP_H
#define LOCKSTEP_DETECT_RACE_COPY_GAP_H

#include "sim/detect/race/race_ends.h"

typedef struct CopyGap {
  const char *why, *repair;
} CopyGap;

/* NULL: neither is such a copy's. Of two accesses of one launch of PTX, of which the detector is told now. */
const CopyGap *copy_gap_find(const ProbePoint *point, const Race *race, const RaceEnd *second);

#endif
