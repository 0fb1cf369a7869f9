/* race_report.h - findings of the race detector: one for each pair of source lines, with both accesses. A race on
 * a word that turns out to be a flag is withdrawn, so findings are held back until the end of the run. For a pair
 * of lines RACE_WORDS_MAX words are kept: if all of them turn out to be flags, races on further words are missed. */
#ifndef LOCKSTEP_DETECT_RACE_RACE_REPORT_H
#define LOCKSTEP_DETECT_RACE_RACE_REPORT_H

#include "sim/core/gpu.h"
#include "sim/detect/naming/finding.h"
#include "sim/detect/race/race_ends.h"
#include "sim/detect/race/race_late.h"

typedef struct RaceReport {
  GPtrArray *findings;   /* borrowed */
  const Finding *sought; /* borrowed; NULL: none */
  Gpu *ends;             /* its run ends once that is found */
  Finding *older;   /* a trial of an older value: what was taken for it, once something was; NULL: nothing, or none */
  bool seeks_older; /* such a trial: nothing else is told */
  bool older_stands; /* something races because of that */
  const RaceLate *late; /* borrowed; NULL: no store is late */
  GPtrArray *pairs;  /* RacePair * in the order of their first race; owns them */
  GHashTable *known; /* pair of lines -> RacePair * */
} RaceReport;

enum { RACE_WORDS_MAX = 64 };

void race_report_init(RaceReport *report, GPtrArray *findings);
void race_report_clear(RaceReport *report);
/* All that is asked of the run is whether it has a finding at the place of `sought`. */
void race_report_seek(RaceReport *report, const Finding *sought, Gpu *gpu);
/* `point` is the second access; one to shared memory has its block. */
void race_report_add(RaceReport *report, const ProbePoint *point, const Race *race);
/* Races on that word so far were none: it is a flag. */
void race_report_withdraw(RaceReport *report, AccessSpace space, uint64_t word);
/* Races on that word so far stay: from now on it is another one. */
void race_report_settle(RaceReport *report, AccessSpace space, uint64_t word);
/* Appends what is left to the findings. */
void race_report_finish(RaceReport *report);

#endif
