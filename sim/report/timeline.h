/* timeline.h - a run as Chrome trace events (JSON), which Perfetto and chrome://tracing open.
 * A process for each SM, and in it a track for each warp and for each lock bit that was taken. On a warp's track
 * there is a slice for each instruction: from its issue until its result can be used or the warp issues again,
 * whichever is first; that of a barrier lasts as long as the warp waits. On a lock bit's track there is a slice for
 * each time that it was held.
 * What memory adds is in timeline_memory.h, arrows from releases to acquires in timeline_flow.h.
 * One microsecond of the trace is one cycle of the SMs.
 * Events are written as they come, up to a number.
 * Deterministic: the same run gives the same bytes. */
#ifndef LOCKSTEP_REPORT_TIMELINE_H
#define LOCKSTEP_REPORT_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "sim/core/probe.h"

enum { TIMELINE_EVENTS_MAX = 2000000 };

typedef struct Timeline Timeline;

/* Opens the file, for at most `events` events. NULL after an error. */
Timeline *timeline_new(const char *path, uint64_t events, Diag *diag);
/* What is to subscribe to one run (RunOptions.observer). If that run is started over, so is the timeline. */
Probe *timeline_probe(Timeline *timeline);
/* Ends the file and frees the timeline; the run may be gone already. False after an error. */
bool timeline_close(Timeline *timeline, Diag *diag);

#endif
