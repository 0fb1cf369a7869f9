/* details.h - what --details adds to a run: tables of the units (sim/study/details.h) as text, JSON and CSV. */
#ifndef LOCKSTEP_REPORT_DETAILS_H
#define LOCKSTEP_REPORT_DETAILS_H

#include <json-glib/json-glib.h>

#include "sim/report/paint.h"
#include "sim/study/run.h"

/* For people: of SMs, slices and channels the least, the mean and the most, and the busiest; all links; the hottest
 * lines. */
void details_text(const RunDetails *details, Canvas *canvas);
/* A member `details` of the open object. */
void details_json(const RunDetails *details, JsonBuilder *builder);
/* One row for each number of each unit; they take the place of the rows of csv_run(). */
void details_csv_header(GString *out);
void details_csv(const RunResult *result, GString *out);

#endif
