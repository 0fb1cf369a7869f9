#include "sim/study/correlation.h"

#include <math.h>
#include <stdlib.h>

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Ranks of `values`, ties sharing the mean of their ranks. */
static void set_ranks(const double *values, guint count, double *ranks) {
  g_autofree double *sorted = g_memdup2(values, count * sizeof *values);
  qsort(sorted, count, sizeof *sorted, compare_doubles);
  for (guint i = 0; i < count; i++) {
    guint first = 0, after;
    while (sorted[first] < values[i])
      first++;
    for (after = first; after < count && sorted[after] == values[i]; after++)
      ;
    ranks[i] = (first + after - 1) / 2.0;
  }
}

/* Pearson's correlation, of the ranks. */
bool correlation_of_ranks(const double *a, const double *b, guint count, double *correlation) {
  g_autofree double *x = g_new(double, count), *y = g_new(double, count);
  double middle = (count - 1) / 2.0, xx = 0, yy = 0, xy = 0;
  set_ranks(a, count, x);
  set_ranks(b, count, y);
  for (guint i = 0; i < count; i++) {
    xx += (x[i] - middle) * (x[i] - middle);
    yy += (y[i] - middle) * (y[i] - middle);
    xy += (x[i] - middle) * (y[i] - middle);
  }
  *correlation = xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
  return xx > 0 && yy > 0;
}
