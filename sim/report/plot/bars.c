/* bars.c - bars of a ranking (time of each scenario), of a validation (published beside predicted), and of
 * elasticities; of a ranking of primitives, operations a second. */
#include <math.h>
#include <string.h>

#include "sim/report/plot/columns.h"
#include "sim/report/plot/plot.h"

/* Published values that differ more than so many times are drawn with a logarithmic axis, unless the user says what
 * it is to be. */
enum { ELASTICITIES_SHOWN = 16, LOG_QUOTIENT = 20 };

static void add_bar(FigurePanel *panel, const char *series, const char *label, double mean, double lowest,
                    double highest) {
  FigurePoint point = {
      .x = figure_label(panel->x_labels, label), .mean = mean, .lowest = lowest, .highest = highest, .count = 1};
  g_array_append_val(figure_series(panel, series)->points, point);
}

/* True if scenarios are compared by the time of one operation. */
static bool is_by_operation(const CsvTable *table) {
  return columns_has(table, "ratio_of") && table->rows->len &&
         strcmp(csv_table_field(table, g_ptr_array_index(table->rows, 0), "ratio_of"), "operation") == 0;
}

/* The mean time, with the range over seeds. A scenario that didn't complete has no bar. */
static void add_ranked(Figure *figure, const CsvTable *table, const CsvRow *row) {
  double mean, cycles, lowest, highest, operations = 1;
  FigurePanel *panel = figure_panel(figure, csv_table_field(table, row, "machine"));
  const char *label = csv_table_field(table, row, "scenario");
  bool completed = strcmp(csv_table_field(table, row, "verdict"), "completed") == 0;
  if (!completed || !columns_number(table, row, "mean_microseconds", &mean) ||
      !columns_number(table, row, "mean_cycles", &cycles) || !columns_number(table, row, "lowest_cycles", &lowest) ||
      !columns_number(table, row, "highest_cycles", &highest) || cycles <= 0 ||
      (is_by_operation(table) && !(columns_number(table, row, "operations", &operations) && operations > 0))) {
    g_autofree char *failed = g_strdup_printf("%s (%s)", label, csv_table_field(table, row, "verdict"));
    figure_label(panel->x_labels, failed);
    return;
  }
  mean /= operations;
  add_bar(panel, "mean", label, mean, lowest * mean / cycles, highest * mean / cycles);
}

static void add_validated(Figure *figure, const CsvTable *table, const CsvRow *row) {
  double published, predicted, deviation;
  if (!columns_number(table, row, "published", &published) || !columns_number(table, row, "predicted", &predicted) ||
      strcmp(csv_table_field(table, row, "judgement"), "baseline") == 0 || /* 1 by definition */
      strcmp(csv_table_field(table, row, "metric"), "faster") == 0)        /* yes or no */
    return;
  if (!columns_number(table, row, "deviation", &deviation))
    deviation = 0;
  const char *group = csv_table_field(table, row, "group");
  g_autofree char *title =
      g_strdup_printf("%s (%s)", csv_table_field(table, row, "suite"), csv_table_field(table, row, "metric"));
  g_autofree char *label =
      g_strdup_printf("%s%s", csv_table_field(table, row, "row"), strcmp(group, "fitted") == 0 ? " (fitted)" : "");
  FigurePanel *panel = figure_panel(figure, title);
  add_bar(panel, "published", label, published, published, published);
  add_bar(panel, "predicted", label, predicted, predicted - deviation, predicted + deviation);
}

/* Those that come first in the table are the largest. */
static void add_elasticity(Figure *figure, const CsvTable *table, const CsvRow *row) {
  double mean, lowest, highest;
  FigurePanel *panel = figure_panel(figure, "");
  if (panel->x_labels->len < ELASTICITIES_SHOWN && columns_number(table, row, "elasticity", &mean) &&
      columns_number(table, row, "elasticity_lowest", &lowest) &&
      columns_number(table, row, "elasticity_highest", &highest))
    add_bar(panel, "elasticity", csv_table_field(table, row, "parameter"), mean, lowest, highest);
}

/* Of several machines a panel's title names its own. */
static void add_primitive(Figure *figure, const CsvTable *table, const CsvRow *row) {
  double rate;
  g_autofree char *title =
      g_strdup_printf("%s, %s blocks%s%s", csv_table_field(table, row, "kind"), csv_table_field(table, row, "blocks"),
                      columns_count(table, "machine") > 1 ? ", " : "",
                      columns_count(table, "machine") > 1 ? csv_table_field(table, row, "machine") : "");
  FigurePanel *panel = figure_panel(figure, title);
  if (columns_number(table, row, "operations_per_second", &rate) && !*csv_table_field(table, row, "problem"))
    add_bar(panel, "rate", csv_table_field(table, row, "primitive"), rate, rate, rate);
}

/* The lowest and the highest end of a bar, with what it varies over; *lowest is infinite if there are no bars. */
static void find_ends(const Figure *figure, double *lowest, double *highest) {
  *lowest = INFINITY;
  *highest = 0;
  for (guint i = 0; i < figure->panels->len; i++) {
    const FigurePanel *panel = g_ptr_array_index(figure->panels, i);
    for (guint j = 0; j < panel->series->len; j++) {
      const GArray *points = ((const FigureSeries *)g_ptr_array_index(panel->series, j))->points;
      for (guint k = 0; k < points->len; k++) {
        *lowest = MIN(*lowest, g_array_index(points, FigurePoint, k).lowest);
        *highest = MAX(*highest, g_array_index(points, FigurePoint, k).highest);
      }
    }
  }
}

Figure *plot_bars(const CsvTable *table, const PlotOptions *options, Diag *diag) {
  bool ranked = columns_has(table, "ratio"), elastic = columns_has(table, "elasticity"),
       primitives = columns_has(table, "primitive"), validated = !ranked && !elastic && !primitives;
  g_autoptr(Figure) figure = figure_new(FIGURE_BARS);
  if (options->x || options->y || options->map || options->curves || options->panels) {
    diag_usage(diag, "%s is a %s: --x, --y, --map, --curves and --panels are for the table of a sweep", table->file,
               ranked || primitives ? "ranking"
               : elastic            ? "list of elasticities"
                                    : "validation");
    return NULL;
  }
  if (options->printed || options->log_x == AXIS_LOG) {
    diag_usage(diag, "%s gives bars: %s is for curves", table->file, options->printed ? "--over" : "--log x");
    return NULL;
  }
  for (guint i = 0; i < table->rows->len; i++) {
    const CsvRow *row = g_ptr_array_index(table->rows, i);
    if (elastic)
      add_elasticity(figure, table, row);
    else if (primitives)
      add_primitive(figure, table, row);
    else if (ranked)
      add_ranked(figure, table, row);
    else
      add_validated(figure, table, row);
  }
  double lowest, highest;
  find_ends(figure, &lowest, &highest);
  if (isinf(lowest)) {
    diag_error(diag, table->file, 0, 0, "has no result that could be a bar");
    return NULL;
  }
  if (options->log_y == AXIS_LOG && lowest <= 0) {
    diag_usage(diag, "--log: there are values that aren't above 0");
    return NULL;
  }
  figure->title = g_strdup(options->title);
  figure->y_label = g_strdup(ranked       ? (is_by_operation(table) ? "time of an operation (us)" : "time (us)")
                             : elastic    ? "elasticity of the time"
                             : primitives ? "operations a second"
                                          : "");
  figure->x_label = g_strdup("");
  figure->log_y = options->log_y == AXIS_LOG ||
                  (validated && options->log_y == AXIS_BY_VALUES && lowest > 0 && highest > LOG_QUOTIENT * lowest);
  return g_steal_pointer(&figure);
}
