/* json_studies.h - what tune, sensitivity and rank --primitives found, as JSON (doc/json.md). Each function returns
 * the text of one object, without a newline at its end. Free with g_free. */
#ifndef LOCKSTEP_REPORT_JSON_STUDIES_H
#define LOCKSTEP_REPORT_JSON_STUDIES_H

#include "sim/study/run.h"
#include "sim/study/sweep/primitives.h"
#include "sim/study/sweep/sensitivity.h"
#include "sim/study/sweep/tune.h"

/* `axes`: TuneAxis; `scenario` and `machine` as the user named them; `machine` may be NULL. */
char *json_tune(const Tuned *tuned, const GArray *axes, const char *scenario, const char *machine,
                const Changes *changes, unsigned seeds);
char *json_sensitivity(const Sensitivity *found, const Machine *machine, const char *scenario, double by,
                       const Changes *changes, unsigned seeds);
/* `contests` as primitives_rank() returns them. */
char *json_primitives(const GPtrArray *contests, const Machine *machine, const Changes *changes, unsigned seeds);

#endif
