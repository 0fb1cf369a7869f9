/* race_report.h - findings of the race detector: one for each pair of source lines, with both accesses. */
#ifndef LOCKSTEP_DETECT_RACE_REPORT_H
#define LOCKSTEP_DETECT_RACE_REPORT_H

#include "sim/core/gpu.h"
#include "sim/detect/finding.h"
#include "sim/detect/shadow.h"

typedef struct RaceReport {
  GPtrArray *findings; /* borrowed */
  GHashTable *known;   /* pair of lines -> Finding *, borrowed */
} RaceReport;

/* One end of a race. */
typedef struct RaceEnd {
  ThreadId base;       /* lane 0 of its warp */
  uint32_t lanes, pc;
  uint64_t cycle;
  bool write, strong;
} RaceEnd;

typedef struct Race {
  RaceEnd first;       /* what the instruction that is issued now races with; its own warp: lanes of it with each other */
  AccessSpace space;
  uint64_t address;    /* physical, if shared */
  uint32_t lanes;      /* of the instruction that is issued now */
  bool write, strong;
} Race;

void race_report_init(RaceReport *report, GPtrArray *findings);
void race_report_clear(RaceReport *report);
/* `point` is the instruction that is issued now. */
void race_report_add(RaceReport *report, const ProbePoint *point, const Race *race);

#endif
