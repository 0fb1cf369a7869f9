/* timeline_memory.h - what memory adds to a timeline. Each request is an asynchronous span in its SM's process, from
 * the SM's sending it to the reply; its arguments have the steps of its last part, in cycles. A process stands for
 * the L2 (or the partitions, or the server): a track for each slice has the turns of its atomic unit, and tracks
 * beside it the loads and stores that wait as hostages of a held line.
 * Counters: parts that wait in each slice, requests under way of each SM; they come last in the file, by rising time.
 * What hasn't been performed when the run ends isn't there. */
#ifndef LOCKSTEP_REPORT_TIMELINE_MEMORY_H
#define LOCKSTEP_REPORT_TIMELINE_MEMORY_H

#include "sim/core/probe.h"
#include "sim/report/timeline_file.h"

typedef struct TimelineMemory TimelineMemory;

TimelineMemory *timeline_memory_new(TimelineFile *file);
void timeline_memory_free(TimelineMemory *memory);
/* The run was started over. */
void timeline_memory_restart(TimelineMemory *memory);
/* A part was performed; `track` is that of its warp. */
void timeline_memory_part(TimelineMemory *memory, const ProbePart *part, uint32_t track);
/* Writes the counters. */
void timeline_memory_end(TimelineMemory *memory);

#endif
