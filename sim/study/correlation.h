/* correlation.h - do two lists of figures agree on the order? */
#ifndef LOCKSTEP_STUDY_CORRELATION_H
#define LOCKSTEP_STUDY_CORRELATION_H

#include <glib.h>
#include <stdbool.h>

/* Spearman's rank correlation of `count` pairs, ties sharing the mean of their ranks. False if one side has no
 * variation. */
bool correlation_of_ranks(const double *a, const double *b, guint count, double *correlation);

#endif
