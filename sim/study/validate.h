/* validate.h - predictions beside published figures (suite.h). Every figure is a mean over seeds (samples.h); rows
 * that look at the same scenario share its runs. */
#ifndef LOCKSTEP_STUDY_VALIDATE_H
#define LOCKSTEP_STUDY_VALIDATE_H

#include "sim/study/samples.h"
#include "sim/study/suite.h"

typedef struct ValidateOptions {
  SamplesOptions samples;
  unsigned seeds;               /* at least SAMPLE_SEEDS_MIN */
  const char *machine;          /* instead of the rows' own; NULL */
  const char *const *overrides; /* parameters changed ("sm.lock_unit.bits=2048"), NULL-terminated; NULL */
} ValidateOptions;

/* Runs that suites share. */
typedef struct ValidateRuns ValidateRuns;

/* None yet; `options` are borrowed. */
ValidateRuns *validate_runs_new(const ValidateOptions *options);
void validate_runs_free(ValidateRuns *runs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ValidateRuns, validate_runs_free)
/* Notes what a suite will look at, so that runs for a suite before it serve this one, too. */
void validate_runs_want(ValidateRuns *runs, const Validation *validation);

/* Makes the runs that are missing and puts the predictions into the suite's rows. False after errors. If something
 * stops the runs (SamplesOptions), the rows that weren't measured by then are dropped (Validation.cut_short). */
bool validate_suite(Validation *validation, ValidateRuns *runs, Diag *diag);

/* "within 20 %" or "outside 20 %"; "equal" or "differs" where the tolerance is 0, and for counted bytes and bits;
 * else "". Free with g_free. */
char *validation_judgement_text(const ValidationRow *row);
/* 0, or 1 if a row lies outside its tolerance or a run didn't go as its scenario expects. */
int validation_exit_status(const Validation *validation);

#endif
