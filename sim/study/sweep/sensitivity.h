/* sensitivity.h - which parameters of a machine a time hangs on: elasticities, from runs with each parameter a little
 * lower and a little higher under the same seeds. */
#ifndef LOCKSTEP_STUDY_SWEEP_SENSITIVITY_H
#define LOCKSTEP_STUDY_SWEEP_SENSITIVITY_H

#include "sim/machine/machine.h"
#include "sim/study/sweep/measure.h"

/* What a parameter does: an elasticity of 0.5 means that 1 % more of it makes the time 0.5 % longer. */
typedef struct Elasticity {
  unsigned param;               /* its index (machine_param_path) */
  char *lower, *higher;         /* the values that were tried; either may be NULL: the parameter can't go there */
  double mean, lowest, highest; /* over seeds */
  char *problem;                /* why there is none; NULL */
} Elasticity;

typedef struct Sensitivity {
  double base;  /* microseconds without a change, the mean over seeds */
  GArray *rows; /* Elasticity, the largest first, those that failed last */
  guint runs;   /* how many there were */
} Sensitivity;

/* Changes each number among the machine's parameters whose path starts with one of `prefixes` (NULL-terminated; NULL:
 * all) by the fraction `by`. `plan` gives scenario, machine, changes and seeds, and must have one point; `machine`
 * has the plan's changes, so a parameter that is changed is varied around its new value. NULL after errors, or if it
 * was stopped. */
Sensitivity *sensitivity_of(const Plan *plan, const Machine *machine, double by, const char *const *prefixes,
                            const SweepOptions *options, Diag *diag);
void sensitivity_free(Sensitivity *sensitivity);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Sensitivity, sensitivity_free)

#endif
