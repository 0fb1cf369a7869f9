/* schedule.h - the schedules that check tries: scheduling policies, branch orders, orders of dispatch, seeds, warps
 * that are held up, late stores. */
#ifndef LOCKSTEP_STUDY_SCHEDULE_H
#define LOCKSTEP_STUDY_SCHEDULE_H

#include "sim/study/place_log.h"
#include "sim/study/run.h"

typedef struct Schedule {
  SchedulerPolicy policy;
  BranchOrder order;
  DispatchOrder dispatch;
  uint64_t seed;
  bool reordered;       /* `dispatch` isn't the machine's own */
  uint32_t held_up;     /* cycles (sm.held_up) */
  uint32_t held_once;   /* the place (sm.held_once); 0: none */
  uint32_t late_stores; /* cycles (memory.late_stores) */
  bool more;            /* of late stores: for a short program only */
} Schedule;

/* What the programs of a check can tell apart. */
typedef struct ScheduleKinds {
  bool blocks;   /* some launch has several */
  unsigned held; /* under so many seeds, at most, warps are held up, too */
  unsigned late; /* under so many seeds, at most, stores are late, too (unfenced.h) */
} ScheduleKinds;

/* The machine's own policy under `seeds` seeds from `seed` on, then the other branch order, the other policies, the
 * other orders of dispatch, and late stores under each of the seeds, and more of them (Schedule.more) unless there
 * are few; at the end warps that are held up, likewise under more seeds. */
GArray *schedules_by_seeds(const Machine *machine, uint64_t seed, unsigned seeds, ScheduleKinds kinds);
/* `count` schedules: seed after seed each policy with each branch order, the machine's own first, the other orders of
 * dispatch, warps that are held up, and late stores. */
GArray *schedules_count(const Machine *machine, uint64_t seed, unsigned count, ScheduleKinds kinds);
/* The first run of a check. */
typedef struct FirstRun {
  uint64_t instructions, cycles; /* of warps; of the SMs' clock */
  const PlaceLog *places;        /* where warps came by */
} FirstRun;
/* Leaves out runs in which warps are held up, or stores are late, that would take too long as a whole; and adds such
 * in which one warp is held up, once, at a place that it came by, up to SCHEDULES_PLACES_MAX of them, if warps are to
 * be held up at all. */
void schedules_fit(GArray *schedules, const FirstRun *run);
enum { SCHEDULES_PLACES_MAX = 256 };
/* So many instructions of runs in which warps are held up, most of them of threads that wait, are enough. */
enum { SCHEDULES_HELD_MOST = 1000000 };
/* The machine under that schedule; free it with machine_free(). */
Machine *schedule_machine(const Schedule *schedule, const Machine *machine);
/* "policy youngest, branch order taken-first, seed 1". Newly allocated. */
char *schedule_text(const Schedule *schedule);
/* The schedule's names. */
ScheduleResult schedule_result(const Schedule *schedule);
/* What makes a run follow this schedule; newly allocated. */
char *schedule_arguments(const ScheduleResult *schedule);

#endif
