/* part.h - a part of a plan (plan.h): scenarios, machines, and the axes of their parameters.
 * Ownership: a PlanPart owns all that it holds. */
#ifndef LOCKSTEP_STUDY_SWEEP_PART_H
#define LOCKSTEP_STUDY_SWEEP_PART_H

#include "sim/study/sweep/axis.h"

typedef enum { AXIS_SETTING, AXIS_PARAM } AxisKind; /* of the machine (-s), of the scenario (-p) */

typedef struct Axis {
  AxisKind kind;
  char *name;        /* memory.slice.interval, blocks */
  AxisPlace place;   /* its strings are the Axis's own */
  GPtrArray *values; /* char *, at least one */
} Axis;

/* Everything in it is combined with everything: scenarios, machines, values of each axis, seeds; the first varies
 * slowest. */
typedef struct PlanPart {
  GPtrArray *scenarios; /* char *, as a user would name it on the command line */
  GPtrArray *machines;  /* char *; empty: each scenario's first one */
  GPtrArray *axes;      /* Axis *, settings before params */
} PlanPart;

PlanPart *plan_part_new(void);
PlanPart *plan_part_copy(const PlanPart *part);
void plan_part_free(gpointer part);
/* Takes the axis: in place of one of that kind and name, else behind those of its kind. */
void plan_part_put(PlanPart *part, Axis *axis);

/* An axis without values; the place's strings are copied. */
Axis *axis_new(AxisKind kind, const char *name, const AxisPlace *place);
void axis_free(gpointer axis);

#endif
