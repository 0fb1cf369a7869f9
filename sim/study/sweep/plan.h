/* plan.h - which points a sweep has: scenarios, machines, values of parameters, seeds; read from YAML (doc/sweep.md
 * has the form) or given on the command line.
 * Ownership: a Plan owns all that it holds; a PlanPoint owns its lists and borrows the rest from its plan. */
#ifndef LOCKSTEP_STUDY_SWEEP_PLAN_H
#define LOCKSTEP_STUDY_SWEEP_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/scenario/programs.h"
#include "sim/study/sweep/part.h"

enum { PLAN_POINTS_MAX = 10000000, PLAN_SEEDS_MAX = 1000000 };

typedef struct Plan {
  char *file;         /* NULL: the command line */
  GPtrArray *parts;   /* PlanPart *, at least one */
  uint64_t seed;      /* the first one */
  unsigned seeds;     /* of each point, from `seed` on */
  GPtrArray *numbers; /* char *: the counters that a row has besides (counters.def) */
  uint64_t limit_cycles;
  double point_seconds; /* a point that takes longer is given up; 0: none is */
  CodeKind code;
  NvccCache *compiled; /* what points share of what nvcc made */
} Plan;

typedef struct PlanPoint {
  const PlanPart *part;
  const char *scenario;
  const char *machine;     /* NULL: the scenario's first */
  char **settings;         /* "memory.x=1", NULL-terminated */
  char **params;           /* "blocks=8", NULL-terminated */
  const char **axis_value; /* by index of the part's axes */
  uint64_t seed;
} PlanPoint;

/* An empty plan with one part, or (plan_empty) with none. */
Plan *plan_new(void);
Plan *plan_empty(void);
/* An empty plan with the seeds, limits and code of another, with which it shares what nvcc made. */
Plan *plan_like(const Plan *given);
/* Reads a plan. Scenarios are looked for beside it first. NULL after errors. */
Plan *plan_parse(const char *file, const char *text, gsize length, Diag *diag);
Plan *plan_load(const char *path, Diag *diag);
/* True if the file is a plan: YAML with `scenarios`, `parts`, or other keys that a plan has and a scenario hasn't.
 * False for anything else, one that can't be read among
 * it. */
bool plan_is_plan(const char *path);
void plan_free(Plan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Plan, plan_free)

/* Gives every part an axis, in place of one of that name if there is one; `option` is the text of the command line,
 * "blocks=1..8".
 * False after errors. */
bool plan_set_axis(Plan *plan, AxisKind kind, const char *option, Diag *diag);
/* Names a counter that rows are to have; one that is named twice is one column. False after errors. */
bool plan_add_number(Plan *plan, const char *name, const AxisPlace *place, Diag *diag);
/* Checks what a whole plan must have: scenarios, at most PLAN_POINTS_MAX points. False after errors. */
bool plan_check(const Plan *plan, Diag *diag);

/* How many points there are, seeds counted. */
guint64 plan_points(const Plan *plan);
void plan_point(const Plan *plan, guint64 index, PlanPoint *point);
void plan_point_clear(PlanPoint *point);

/* The plan as YAML that plan_parse() reads back to the same points, from any folder: files by their absolute paths.
 * Free with g_free. */
char *plan_text(const Plan *plan);

#endif
