/* place_log.h - where the warps of a run come by that could be held up there (hold_once.h), and how often.
 * Ownership: whoever makes the run has the log, and frees it. */
#ifndef LOCKSTEP_STUDY_PLACE_LOG_H
#define LOCKSTEP_STUDY_PLACE_LOG_H

#include "sim/core/probe.h"

typedef struct PlaceLog PlaceLog;

PlaceLog *place_log_new(void);
void place_log_free(PlaceLog *log);
/* For the runs that it is to follow. */
Probe *place_log_probe(PlaceLog *log);
/* Numbers of places (sm.held_once), uint32_t, `most` of them at most, of up to eight warps for each instruction: for
 * the first time that they came there, then for the last, then for the second, each spread over all. The caller owns
 * it. */
GArray *place_log_numbers(const PlaceLog *log, guint most);

#endif
