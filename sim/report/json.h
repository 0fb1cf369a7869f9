/* json.h - results as JSON, in the form that doc/json.md describes. Every function returns the text of one object,
 * without a newline at its end. Free with g_free. */
#ifndef LOCKSTEP_REPORT_JSON_H
#define LOCKSTEP_REPORT_JSON_H

#include "sim/study/rank.h"
#include "sim/study/run.h"
#include "sim/study/validate.h"

char *json_run(const RunResult *result);
char *json_rank(const GPtrArray *rows, const Machine *machine, const Changes *changes);
char *json_validation(const Validation *validation, const Changes *changes);

#endif
