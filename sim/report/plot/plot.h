/* plot.h - figures from tables: of a sweep (curves over a parameter, or a map over two), of a ranking and of a
 * validation (bars). */
#ifndef LOCKSTEP_REPORT_PLOT_PLOT_H
#define LOCKSTEP_REPORT_PLOT_PLOT_H

#include "sim/report/plot/figure.h"
#include "sim/study/csv_table.h"

typedef enum { AXIS_BY_VALUES, AXIS_LINEAR, AXIS_LOG } AxisScale;

/* What the user wants of a figure. Names are columns; NULL: plot_figure() chooses. */
typedef struct PlotOptions {
  const char *x, *y;
  const char *map;    /* the second axis of a map; NULL: curves */
  char **curves;      /* what tells curves apart, NULL-terminated; NULL: whatever varies */
  const char *panels; /* a panel for each value; NULL: the machine, if there are several */
  char **where; /* "atomic=1": rows with another value in that column are left out; NULL-terminated; NULL: all rows */
  const char *title;
  AxisScale log_x, log_y;
  const CsvTable *printed; /* a suite of published figures, to be put over curves; NULL: none */
} PlotOptions;

/* The figure of a table, by its columns: `key` is a sweep, `ratio` a ranking, `primitive` a ranking of primitives,
 * `suite` a validation. `left_out` counts rows without a value. Rows that `options->where` leaves out are taken out
 * of the table. NULL after errors. */
Figure *plot_figure(CsvTable *table, const PlotOptions *options, guint *left_out, Diag *diag);

/* The figure of a ranking or of a validation (bars.c). */
Figure *plot_bars(const CsvTable *table, const PlotOptions *options, Diag *diag);

#endif
