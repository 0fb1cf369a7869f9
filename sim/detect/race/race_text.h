/* race_text.h - who did what, and where, of the two ends of a race: sentences for its finding. */
#ifndef LOCKSTEP_DETECT_RACE_RACE_TEXT_H
#define LOCKSTEP_DETECT_RACE_RACE_TEXT_H

#include "sim/detect/naming/finding.h"
#include "sim/detect/race/race_ends.h"

/* Free with g_free. */
char *race_end_text(const ProbePoint *point, const RaceEnd *end);
/* "a[0] (global 0x10000)", "a[0] to a[31] (global 0x10000 ...)"; free with g_free. */
char *race_where_text(const ProbePoint *point, const Race *race);
/* It is a free() of the memory. */
bool race_frees(const ProbePoint *point, const RaceEnd *end);
/* What it did to the word, in the past tense. */
const char *race_deed(const ProbePoint *point, const RaceEnd *end);
/* Evidence: what the end did; `when`: "first". */
void race_add_end(Finding *finding, const ProbePoint *point, const RaceEnd *end, const char *when);
/* Evidence, if the two touch other bytes of the word: what one instruction touches counts together. */
void race_add_bytes(Finding *finding, const Race *race);

#endif
