/* rank.h - scenarios side by side: each measured over the same seeds (samples.h), and how many times as fast as the
 * first it is: the whole, or, if all count their operations and these differ in number, one operation. */
#ifndef LOCKSTEP_STUDY_RANK_H
#define LOCKSTEP_STUDY_RANK_H

#include "sim/study/samples.h"

/* Measures each scenario under seeds first_seed .. first_seed+seeds-1 (options->run.seed). `scenarios` holds Scenario
 * *; the first is the baseline. Returns Measurement * in the same order, with their ratios; NULL after errors. Free
 * with g_ptr_array_unref. If `options->run.stop` asks for it, measuring ends early: then rows are missing, and the
 * last may have fewer seeds. */
GPtrArray *rank_scenarios(const GPtrArray *scenarios, const Machine *machine, const SamplesOptions *options,
                          unsigned seeds, Diag *diag);
/* Why whole runs are compared although operations are counted: the scenario that counts none; else NULL.
 * Borrowed. */
const char *rank_uncounted(const GPtrArray *rows);
/* Standard deviation of row->ratio, from the spreads of both rows; 0 for the baseline itself, NaN without a
 * ratio. */
double rank_ratio_deviation(const Measurement *baseline, const Measurement *row);

#endif
