/* schedule_kinds.h - which kinds of schedules show something of a scenario. */
#ifndef LOCKSTEP_STUDY_SCHEDULE_KINDS_H
#define LOCKSTEP_STUDY_SCHEDULE_KINDS_H

#include "sim/study/schedule.h"

/* What the scenario's programs can tell apart on that machine. Messages of a program that is lowered for this are
 * added to `diag`. */
ScheduleKinds schedule_kinds(const Scenario *scenario, const Machine *machine, Diag *diag);

#endif
