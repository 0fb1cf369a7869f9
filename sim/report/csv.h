/* csv.h - results as CSV (RFC 4180, a header row, \n line ends), one row for each run or scenario; columns in
 * doc/json.md. */
#ifndef LOCKSTEP_REPORT_CSV_H
#define LOCKSTEP_REPORT_CSV_H

#include <glib.h>

#include "sim/study/rank.h"
#include "sim/study/run.h"
#include "sim/study/validate.h"

void csv_run_header(GString *out);
void csv_run(const RunResult *result, GString *out);
void csv_rank_header(GString *out);
void csv_rank(const GPtrArray *rows, const Machine *machine, const Changes *changes, GString *out);
void csv_validation_header(GString *out);
void csv_validation(const Validation *validation, const Changes *changes, GString *out);

#endif
