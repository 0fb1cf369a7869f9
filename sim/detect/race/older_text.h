/* older_text.h - the finding of a load that might have read an older value (race_older.h). */
#ifndef LOCKSTEP_DETECT_RACE_OLDER_TEXT_H
#define LOCKSTEP_DETECT_RACE_OLDER_TEXT_H

#include "sim/detect/naming/finding.h"
#include "sim/detect/race/race_ends.h"

/* Where it is: what a trial tells. The caller owns it. */
Finding *older_place(const Gpu *gpu, const OlderCase *found);
/* In doubt, and with what may repair it. The caller owns it. */
Finding *older_finding(const Gpu *gpu, const OlderCase *found);
/* Adds what may help: a fence between the reader's last store and its load, where there is none, and one behind the
 * writer's store (Finding.fences). */
void older_add_fences(Finding *finding, const Gpu *gpu, const OlderCase *found);

#endif
