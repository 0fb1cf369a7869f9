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

/* A scenario or a machine, as a user would name it on the command line. */
typedef struct PlanName {
  char *text;
  AxisPlace place; /* its strings are the PlanName's own */
} PlanName;

/* Everything in it is combined with everything: scenarios, machines, values of each axis, seeds; the first varies
 * slowest. */
typedef struct PlanPart {
  GPtrArray *scenarios;  /* PlanName * */
  GPtrArray *machines;   /* PlanName *; empty: each scenario's first one */
  GPtrArray *axes;       /* Axis *, settings before params */
  unsigned line, column; /* where it begins in the plan's file; 0 if there is none */
} PlanPart;

PlanPart *plan_part_new(void);
PlanPart *plan_part_copy(const PlanPart *part);
void plan_part_free(gpointer part);
/* Appends a scenario or a machine to a list of the part's; the place's strings are copied (NULL: the command
 * line). */
void plan_part_name(GPtrArray *names, const char *text, const AxisPlace *place);
/* The text of one of them. Borrowed. */
const char *plan_part_text(const GPtrArray *names, guint index);
/* Takes the axis: in place of one of that kind and name, else behind those of its kind. */
void plan_part_put(PlanPart *part, Axis *axis);

/* An axis without values; the place's strings are copied. */
Axis *axis_new(AxisKind kind, const char *name, const AxisPlace *place);
void axis_free(gpointer axis);

#endif
