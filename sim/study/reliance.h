/* reliance.h - runs that went wrong under another order of dispatch, and the finding `dispatch-order` for a program
 * that is right under the machine's own only. Owns the runs. */
#ifndef LOCKSTEP_STUDY_RELIANCE_H
#define LOCKSTEP_STUDY_RELIANCE_H

#include "sim/study/run.h"

typedef struct Reliance Reliance;

Reliance *reliance_new(void);
void reliance_free(Reliance *reliance);
/* The run by schedule `schedule`; takes ownership. */
void reliance_add(Reliance *reliance, guint schedule, RunResult *run);
/* The finding, and marks the schedules in `check` as not counted; NULL if there are no such runs. */
Finding *reliance_finding(const Reliance *reliance, RunResult *check);

#endif
