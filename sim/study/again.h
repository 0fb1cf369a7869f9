/* again.h - the commands that a check tells its user, each of which runs one of its schedules again. */
#ifndef LOCKSTEP_STUDY_AGAIN_H
#define LOCKSTEP_STUDY_AGAIN_H

#include "sim/study/run.h"

/* What the user gave, besides the scenario. All borrowed. */
typedef struct Given {
  const char *machine;         /* as -m takes it; NULL: the result's */
  const char *const *settings; /* how the machine was changed, or NULL */
  const char *options;         /* what else a run needs: " -p n=3"; or NULL */
  const char *flags;           /* and behind all of that: " -- -DN=4"; or NULL */
} Given;

/* The command that runs the worst schedule again; NULL if all are well. Newly allocated. */
char *again_worst(const RunResult *worst, const GArray *schedules, const Given *given);
/* The schedules in which warps are held up and of which nobody knows whether they end. Owns `again` of it. */
Unfinished again_unfinished(const GArray *schedules, const RunResult *result, const Given *given);

#endif
