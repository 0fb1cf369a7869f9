/* row.h - a point of a sweep as a line of CSV; doc/sweep.md has the columns. A field never holds a line end, so that
 * a row is a line. */
#ifndef LOCKSTEP_STUDY_SWEEP_ROW_H
#define LOCKSTEP_STUDY_SWEEP_ROW_H

#include "sim/study/run.h"
#include "sim/study/sweep/plan.h"

/* The names of the columns, without line end. Free with g_free. */
char *row_header(const Plan *plan);
/* The row of a point, without line end: of its result, or (`result` NULL) of why there is none. `scenario` and
 * `machine` are names;
 * `key` identifies the point. Free with g_free. */
char *row_text(const Plan *plan, const PlanPoint *point, const char *scenario, const char *machine,
               const RunResult *result, const char *error, const char *key);
/* The key of a row. Borrowed from `row`. */
const char *row_key(const char *row);
/* True if it has no result but an error. */
bool row_is_error(const char *row);

#endif
