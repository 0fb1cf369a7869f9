/* schedule.h - the schedules that check tries: scheduling policies, branch orders, orders of dispatch, seeds. */
#ifndef LOCKSTEP_STUDY_SCHEDULE_H
#define LOCKSTEP_STUDY_SCHEDULE_H

#include "sim/study/run.h"

typedef struct Schedule {
  SchedulerPolicy policy;
  BranchOrder order;
  DispatchOrder dispatch;
  uint64_t seed;
  bool reordered; /* `dispatch` isn't the machine's own */
} Schedule;

/* The machine's own policy under `seeds` seeds from `seed` on, then the other branch order, the other policies and,
 * with `blocks` (some launch has several), the other orders of dispatch. */
GArray *schedules_by_seeds(const Machine *machine, uint64_t seed, unsigned seeds, bool blocks);
/* `count` schedules: seed after seed each policy with each branch order, the machine's own first, and with `blocks`
 * the other orders of dispatch. */
GArray *schedules_count(const Machine *machine, uint64_t seed, unsigned count, bool blocks);
/* The machine under that schedule; free it with machine_free(). */
Machine *schedule_machine(const Schedule *schedule, const Machine *machine);
/* "policy youngest, branch order taken-first, seed 1". Newly allocated. */
char *schedule_text(const Schedule *schedule);
/* The schedule's names. */
ScheduleResult schedule_result(const Schedule *schedule);
/* What makes a run follow this schedule; newly allocated. */
char *schedule_arguments(const ScheduleResult *schedule);

#endif
