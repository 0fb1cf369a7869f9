/* dump_text.h - what buffers hold at the end of a run, as text and as JSON. */
#ifndef LOCKSTEP_REPORT_DUMP_TEXT_H
#define LOCKSTEP_REPORT_DUMP_TEXT_H

#include <json-glib/json-glib.h>

#include "sim/report/paint.h"
#include "sim/study/dump.h"

/* Rows of values, each behind the number of its first one; `*` stands for rows that are like the one before. */
void dump_text(const GArray *dumps, Canvas *canvas);
/* A member "buffers" of the open object: an array of values for each. What JSON has no number for is a string ("nan",
 * "inf", hexadecimal digits, what is above 2^63 - 1). */
void dump_json(const GArray *dumps, JsonBuilder *builder);

#endif
