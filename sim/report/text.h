/* text.h - results for people: aligned, explained, coloured where the terminal allows it. */
#ifndef LOCKSTEP_REPORT_TEXT_H
#define LOCKSTEP_REPORT_TEXT_H

#include "sim/report/paint.h"
#include "sim/study/rank.h"
#include "sim/study/run.h"
#include "sim/study/validate.h"

/* One run, or one check (a result with schedules): verdict, findings, expectation, times, counters. */
void text_run(const RunResult *result, Canvas *canvas);
/* ", -s sm.policy=gto -p n=3", or nothing. */
void text_changes(const Changes *changes, Canvas *canvas);
/* Several results, one line each; `results` holds RunResult *. */
void text_summary(const GPtrArray *results, Canvas *canvas);
/* Rank rows side by side. */
void text_rank(const GPtrArray *rows, const Machine *machine, const Changes *changes, Canvas *canvas);
/* Predictions beside published figures. */
void text_validation(const Validation *validation, const Changes *changes, Canvas *canvas);

#endif
