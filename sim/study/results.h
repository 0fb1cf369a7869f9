/* results.h - do the schedules of a check leave the same in memory? Compares the scenario's buffers at the end of
 * each completed run, word by word with those of the first. */
#ifndef LOCKSTEP_STUDY_RESULTS_H
#define LOCKSTEP_STUDY_RESULTS_H

#include "sim/study/run.h"

/* Runs that left the same. */
typedef struct ResultKind {
  char *digest;    /* of all buffers; NULL for the first kind, which is compared word by word */
  char *buffers;   /* "x = 1, y = 0 3": short buffers, cut off after a few; may be empty */
  char *differs;   /* "x[0] is 1 instead of 32", from the first kind; NULL for that */
  guint schedules; /* how many */
  guint first;     /* index of the first of them */
} ResultKind;

typedef struct Results {
  GArray *kinds;      /* ResultKind, in order of their first schedule */
  GPtrArray *buffers; /* ResultBuffer *, of the first completed run; NULL: none yet */
  GByteArray *varies; /* a bit for each word of these, of all one after the other: some run left another value */
} Results;

void results_init(Results *results);
void results_clear(Results *results);
/* Takes the buffers of a run by schedule `schedule`. Returns the number of its kind, from 1; 0: it didn't
 * complete. `counts`: the words that it leaves otherwise may be so (results_are_among()). */
guint results_add(Results *results, RunResult *run, guint schedule, bool counts);
/* Of a run that isn't among them: each word that all runs left alike is as they left it. There is a completed run.
 * `has_expected`: the scenario says what some buffers hold, and the run has that, so large buffers that vary in many
 * words don't count. */
bool results_are_among(const Results *results, const RunResult *run, bool has_expected);
/* Another run left what kind `kind` left; 0: neither completed. */
void results_add_again(Results *results, guint kind);

#endif
