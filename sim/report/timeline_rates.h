/* timeline_rates.h - counters of a timeline that are numbers of an interval: of each SM its issue slots by what they
 * waited for, in percent, and the bytes a cycle of its port; of each slice of the L2 (partition, server) what it
 * served, the share of time that it and its atomic unit were busy, loads and stores that waited as hostages, and
 * bytes a cycle; bytes a cycle of DRAM, between the halves of the L2, and of the host link.
 * A counter's value holds from its time up to the next one. Intervals have 64 cycles or more; those of a long run
 * twice as many as often as there are more than 1024. */
#ifndef LOCKSTEP_REPORT_TIMELINE_RATES_H
#define LOCKSTEP_REPORT_TIMELINE_RATES_H

#include "sim/core/state.h"
#include "sim/report/timeline_file.h"

typedef struct TimelineRates TimelineRates;

TimelineRates *timeline_rates_new(TimelineFile *file);
void timeline_rates_free(TimelineRates *rates);
/* The run was started over. */
void timeline_rates_restart(TimelineRates *rates);
/* The SM has issued an instruction in `cycle`. */
void timeline_rates_issued(TimelineRates *rates, const Gpu *gpu, const Sm *sm, uint64_t cycle);
/* A part of an access was performed in `cycle`; a block of the SM has ended. */
void timeline_rates_performed(TimelineRates *rates, const Gpu *gpu, uint64_t cycle);
void timeline_rates_ended(TimelineRates *rates, const Gpu *gpu, const Sm *sm, uint64_t cycle);
/* Writes the counters, each by rising time. */
void timeline_rates_end(TimelineRates *rates);

#endif
