#include "sim/report/plot/plot.h"

#include <math.h>
#include <string.h>

#include "sim/report/plot/columns.h"

/* A range of values with a larger quotient is drawn with a logarithmic axis, unless the user says what it is to
 * be. */
static const double log_quotient = 20;

/* The columns of a figure of a sweep. */
typedef struct Choice {
  const char *x, *y, *map, *panels;
  GPtrArray *curves; /* column names */
} Choice;

/* --- choosing columns --- */

static bool is_chosen(const Choice *choice, const char *name) {
  return (choice->x && strcmp(choice->x, name) == 0) || (choice->map && strcmp(choice->map, name) == 0) ||
         (choice->panels && strcmp(choice->panels, name) == 0);
}

/* True if each row has a number in the column. */
static bool is_everywhere(const CsvTable *table, const char *name) {
  double value;
  for (guint i = 0; i < table->rows->len; i++)
    if (!columns_number(table, g_ptr_array_index(table->rows, i), name, &value))
      return false;
  return true;
}

/* The table of `rank --primitives`. */
static bool is_primitives(const CsvTable *table) {
  return columns_has(table, "kind") && columns_has(table, "primitive") && columns_has(table, "problem");
}

/* The parameter with most values. */
static const char *choose_x(const CsvTable *table, const GPtrArray *varying, const Choice *choice) {
  const char *best = NULL;
  for (guint i = 0; i < varying->len; i++) {
    const char *name = g_ptr_array_index(varying, i);
    if (!is_chosen(choice, name) && is_everywhere(table, name) &&
        (!best || columns_count(table, name) > columns_count(table, best)))
      best = name;
  }
  return best;
}

static bool check_named(const CsvTable *table, const PlotOptions *options, Diag *diag) {
  bool good = (!options->x || columns_check(table, options->x, "--x", diag)) &&
              (!options->y || columns_check(table, options->y, "--y", diag)) &&
              (!options->map || columns_check(table, options->map, "--map", diag)) &&
              (!options->panels || columns_check(table, options->panels, "--panels", diag));
  for (char **name = options->curves; good && name && *name; name++)
    good = columns_check(table, *name, "--curves", diag);
  return good;
}

/* One column in two places would be a figure of points, each in a panel or a curve of its own. */
static bool check_once(const Choice *choice, Diag *diag) {
  const char *const places[] = {"--x", "--y", "--map", "--panels"};
  const char *const names[] = {choice->x, choice->y, choice->map, choice->panels};
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < G_N_ELEMENTS(names) + choice->curves->len; i++) {
    bool is_curve = i >= G_N_ELEMENTS(names);
    const char *name = is_curve ? g_ptr_array_index(choice->curves, i - G_N_ELEMENTS(names)) : names[i];
    const char *place = is_curve ? "--curves" : places[i], *other = name ? g_hash_table_lookup(seen, name) : NULL;
    if (other)
      return diag_usage(diag, "%s %s: `%s` is shown already, by %s", place, name, name, other);
    if (name)
      g_hash_table_insert(seen, (gpointer)name, (gpointer)place);
  }
  return true;
}

/* What varies and is shown nowhere would be averaged in silence. */
static bool check_shown(const CsvTable *table, const GPtrArray *varying, const Choice *choice, Diag *diag) {
  for (guint i = 0; i < varying->len; i++) {
    const char *name = g_ptr_array_index(varying, i);
    if (is_chosen(choice, name) || g_ptr_array_find_with_equal_func(choice->curves, name, g_str_equal, NULL))
      continue;
    diag_usage(diag, "%s: `%s` varies, too, and the figure doesn't show it", table->file, name);
    diag_hint(diag, "choose a value with --where %s=%s, or show it with --panels%s", name,
              csv_table_field(table, g_ptr_array_index(table->rows, 0), name), choice->map ? "" : " or --curves");
    return false;
  }
  return true;
}

/* Options that this kind of figure has no use for. */
static bool check_used(const PlotOptions *options, Diag *diag) {
  if (options->map && options->curves)
    return diag_usage(diag, "--curves can't go with --map, which has a colour in each place and no curves");
  if (options->map && options->printed)
    return diag_usage(diag, "--over can't go with --map: rings lie on curves");
  return !options->map || options->log_x != AXIS_LOG ||
         diag_usage(diag, "--log x can't go with --map, where values stand side by side");
}

/* True if the user says where the column is to be shown. */
static bool is_asked_for(const PlotOptions *options, const char *name) {
  return g_strcmp0(options->x, name) == 0 || g_strcmp0(options->map, name) == 0 ||
         (options->curves && g_strv_contains((const char *const *)options->curves, name));
}

/* What the user doesn't say. */
static void choose_others(const CsvTable *table, const PlotOptions *options, const GPtrArray *varying,
                          Choice *choice) {
  /* of primitives: a barrier isn't compared with a mutex */
  const char *panels = is_primitives(table) && columns_count(table, "kind") > 1 ? "kind" : "machine";
  if (!choice->panels && columns_count(table, panels) > 1 && !is_asked_for(options, panels))
    choice->panels = panels;
  if (!choice->x)
    choice->x = is_primitives(table) ? "blocks" : choose_x(table, varying, choice);
  if (!choice->y)
    choice->y = columns_is_filled(table, "operations_per_second") ? "operations_per_second" : "microseconds";
  for (guint i = 0; !options->curves && !choice->map && i < varying->len; i++)
    if (!is_chosen(choice, g_ptr_array_index(varying, i)))
      g_ptr_array_add(choice->curves, g_ptr_array_index(varying, i));
}

static bool choose(const CsvTable *table, const PlotOptions *options, Choice *choice, Diag *diag) {
  g_autoptr(GPtrArray) varying = columns_varying(table);
  *choice = (Choice){.x = options->x, .y = options->y, .map = options->map, .panels = options->panels};
  choice->curves = g_ptr_array_new();
  if (!check_named(table, options, diag) || !check_used(options, diag))
    return false;
  for (char **name = options->curves; name && *name; name++)
    g_ptr_array_add(choice->curves, *name);
  choose_others(table, options, varying, choice);
  if (!choice->x)
    return diag_usage(diag, "%s: no parameter varies that could be the x axis; name a column with --x", table->file);
  return check_once(choice, diag) && columns_check_numbers(table, choice->y, diag) &&
         (choice->map || columns_check_numbers(table, choice->x, diag)) && check_shown(table, varying, choice, diag);
}

/* --- curves and maps --- */

/* A column whose values are names, which say what they are. */
static bool is_name(const char *column) {
  static const char *const names[] = {"scenario", "machine", "kind", "primitive", NULL};
  return g_strv_contains(names, column);
}

/* "mutex_fa, imax 64": a value alone says what it is where it is a name. */
static char *curve_name(const CsvTable *table, const CsvRow *row, const Choice *choice) {
  GString *name = g_string_new(NULL);
  for (guint i = 0; i < choice->curves->len; i++) {
    const char *column = g_ptr_array_index(choice->curves, i);
    const char *value = csv_table_field(table, row, column);
    if (*value)
      g_string_append_printf(name, "%s%s%s%s", name->len ? ", " : "", is_name(column) ? "" : column,
                             is_name(column) ? "" : " ", value);
  }
  return g_string_free(name, FALSE);
}

/* "gtx580", "initial 10" */
static char *panel_title(const CsvTable *table, const CsvRow *row, const Choice *choice) {
  if (!choice->panels)
    return g_strdup("");
  const char *value = csv_table_field(table, row, choice->panels);
  return is_name(choice->panels) ? g_strdup(value) : g_strdup_printf("%s %s", choice->panels, value);
}

/* A run that hangs or is given up has a time, of when that was noticed, which stands beside no other. */
static bool is_no_time(const CsvTable *table, const CsvRow *row, const char *column) {
  static const char *const times[] = {"cycles", "measured_cycles", "microseconds", "operations_per_second", NULL};
  return columns_has(table, "verdict") && g_strv_contains(times, column) &&
         strcmp(csv_table_field(table, row, "verdict"), "completed") != 0;
}

static bool add_row(Figure *figure, const CsvTable *table, const CsvRow *row, const Choice *choice) {
  double x = 0, y = 0, value;
  g_autofree char *title = panel_title(table, row, choice);
  FigurePanel *panel = figure_panel(figure, title);
  if (!columns_number(table, row, choice->y, &value) || *csv_table_field(table, row, "problem") ||
      is_no_time(table, row, choice->y))
    return false;
  if (choice->map) {
    x = figure_label(panel->x_labels, csv_table_field(table, row, choice->x));
    y = figure_label(panel->y_labels, csv_table_field(table, row, choice->map));
  } else if (!columns_number(table, row, choice->x, &x)) {
    return false;
  }
  g_autofree char *name = curve_name(table, row, choice);
  figure_add(figure_series(panel, name), x, y, value);
  return true;
}

/* --- the axes of a map --- */

typedef struct Order {
  const CsvTable *table;
  const char *column;
} Order;

static gint compare_numbers(gconstpointer a, gconstpointer b, gpointer user) {
  const Order *order = user;
  double first, second;
  columns_number(order->table, *(const CsvRow *const *)a, order->column, &first);
  columns_number(order->table, *(const CsvRow *const *)b, order->column, &second);
  return (first > second) - (first < second);
}

/* The labels of each panel's axis: numbers upwards, whatever the order of the rows is; names as they come. */
static void add_labels(Figure *figure, const CsvTable *table, const Choice *choice, const char *column, bool is_x) {
  g_autoptr(GPtrArray) rows = g_ptr_array_copy(table->rows, NULL, NULL);
  Order order = {table, column};
  g_ptr_array_set_free_func(rows, NULL);
  if (is_everywhere(table, column))
    g_ptr_array_sort_with_data(rows, compare_numbers, &order);
  for (guint i = 0; i < rows->len; i++) {
    const CsvRow *row = g_ptr_array_index(rows, i);
    g_autofree char *title = panel_title(table, row, choice);
    FigurePanel *panel = figure_panel(figure, title);
    figure_label(is_x ? panel->x_labels : panel->y_labels, csv_table_field(table, row, column));
  }
}

/* --- scales --- */

/* Of the values of an axis; bands may reach below the lowest mean. */
typedef struct Extent {
  double lowest, highest, least;
} Extent;

static void extend(Extent *extent, double value, double least) {
  extent->lowest = MIN(extent->lowest, value);
  extent->highest = MAX(extent->highest, value);
  extent->least = MIN(extent->least, least);
}

static bool wants_log(AxisScale scale, const Extent *extent) {
  bool can = extent->least > 0;
  return scale == AXIS_LOG || (scale == AXIS_BY_VALUES && can && extent->highest > log_quotient * extent->lowest);
}

/* True if each value of x is a multiple of the one before it, by the same factor. */
static bool is_geometric(const Figure *figure) {
  const FigurePanel *panel = g_ptr_array_index(figure->panels, 0);
  const GArray *points =
      panel->series->len ? ((const FigureSeries *)g_ptr_array_index(panel->series, 0))->points : NULL;
  if (!points || points->len < 4)
    return false;
  for (guint i = 2; i < points->len; i++) {
    const FigurePoint *p = &g_array_index(points, FigurePoint, i);
    if (!(p[-2].x > 0) || fabs(p->x * p[-2].x / (p[-1].x * p[-1].x) - 1) > 0.01)
      return false;
  }
  return true;
}

static bool choose_scales(Figure *figure, const PlotOptions *options, Diag *diag) {
  Extent x = {INFINITY, -INFINITY, INFINITY}, y = x;
  for (guint i = 0; i < figure->panels->len; i++) {
    const FigurePanel *panel = g_ptr_array_index(figure->panels, i);
    for (guint j = 0; j < panel->series->len; j++) {
      const GArray *points = ((const FigureSeries *)g_ptr_array_index(panel->series, j))->points;
      for (guint k = 0; k < points->len; k++) {
        const FigurePoint *point = &g_array_index(points, FigurePoint, k);
        extend(&x, point->x, point->x);
        extend(&y, point->mean, point->lowest);
      }
    }
  }
  figure->log_y = wants_log(options->log_y, &y);
  figure->log_x = figure->kind == FIGURE_CURVES &&
                  (options->log_x == AXIS_LOG || (options->log_x == AXIS_BY_VALUES && is_geometric(figure)));
  if ((figure->log_x && x.least <= 0) || (figure->log_y && y.least <= 0))
    return diag_usage(diag, "--log: there are values that aren't above 0");
  return true;
}

/* --- published points --- */

/* The value of a column of the sweep in a row of a suite; NULL if the row doesn't say. */
static char *printed_value(const CsvTable *suite, const CsvRow *row, const char *column) {
  if (strcmp(column, "machine") == 0)
    return g_strdup(csv_table_field(suite, row, "machine"));
  if (strcmp(column, "scenario") == 0) {
    char *name = g_path_get_basename(csv_table_field(suite, row, "scenario"));
    *strchrnul(name, '.') = '\0';
    return name;
  }
  g_auto(GStrv) params = g_strsplit(csv_table_field(suite, row, "params"), " ", -1);
  for (char **param = params; *param; param++)
    if (g_str_has_prefix(*param, column) && (*param)[strlen(column)] == '=')
      return g_strdup(*param + strlen(column) + 1);
  return NULL;
}

/* True if a row of the sweep is the point that a row of the suite is about: each param of the suite's row is a column
 * with that value, and whatever the sweep varied is in the suite's row. */
static bool is_same_point(const CsvTable *table, const CsvRow *row, const CsvTable *suite, const CsvRow *printed) {
  g_auto(GStrv) params = g_strsplit(csv_table_field(suite, printed, "params"), " ", -1);
  for (char **param = params; *param; param++) {
    char *equals = strchr(*param, '=');
    g_autofree char *name = g_strndup(*param, equals ? (gsize)(equals - *param) : 0);
    if (equals && strcmp(csv_table_field(table, row, name), equals + 1) != 0)
      return false;
  }
  for (char **column = table->columns; *column && strcmp(*column, "seed") != 0; column++) {
    g_autofree char *value = printed_value(suite, printed, *column);
    if (value ? strcmp(value, csv_table_field(table, row, *column)) != 0 : columns_count(table, *column) > 1)
      return false;
  }
  return true;
}

/* A published time in the unit of a column; false if the metric isn't one of time. */
static bool printed_time(const CsvTable *suite, const CsvRow *printed, const char *column, double *value) {
  const char *metric = csv_table_field(suite, printed, "metric");
  double factor = strcmp(metric, "ms") == 0 ? 1000 : strcmp(metric, "us") == 0 ? 1 : 0;
  if (strcmp(metric, "cycles") == 0 && g_str_has_suffix(column, "cycles"))
    factor = 1;
  else if (strcmp(column, "microseconds") != 0)
    return false;
  return columns_number(suite, printed, "published", value) && (*value *= factor, factor > 0);
}

static guint series_index(const FigurePanel *panel, const FigureSeries *series) {
  guint index = 0;
  g_ptr_array_find(panel->series, series, &index);
  return index;
}

static void add_printed(Figure *figure, const CsvTable *table, const PlotOptions *options, const Choice *choice,
                        guint *found) {
  const CsvTable *suite = options->printed;
  for (guint i = 0; i < suite->rows->len; i++) {
    const CsvRow *printed = g_ptr_array_index(suite->rows, i);
    double x, value;
    guint at = 0;
    while (at < table->rows->len && !is_same_point(table, g_ptr_array_index(table->rows, at), suite, printed))
      at++;
    if (at == table->rows->len || !printed_time(suite, printed, choice->y, &value))
      continue;
    const CsvRow *row = g_ptr_array_index(table->rows, at);
    if (!columns_number(table, row, choice->x, &x))
      continue;
    g_autofree char *where = panel_title(table, row, choice);
    FigurePanel *panel = figure_panel(figure, where);
    g_autofree char *name = curve_name(table, row, choice);
    g_autofree char *title = g_strdup_printf("%s%spublished", name, *name ? ", " : "");
    guint of = series_index(panel, figure_series(panel, name));
    FigureSeries *series = figure_series(panel, title);
    series->is_printed = true;
    series->of = of;
    figure_add(series, x, 0, value);
    (*found)++;
  }
}

/* --- the whole --- */

static void name_axes(Figure *figure, const Choice *choice, const PlotOptions *options) {
  const char *unit = strcmp(choice->y, "operations_per_second") == 0 ? "operations a second"
                     : strcmp(choice->y, "microseconds") == 0        ? "time (us)"
                                                                     : choice->y;
  figure->title = g_strdup(options->title);
  figure->x_label = g_strdup(choice->x);
  figure->y_label = g_strdup(choice->map ? choice->map : unit);
  figure->colour_label = g_strdup(unit);
}

static Figure *plot_sweep(const CsvTable *table, const PlotOptions *options, guint *left_out, Diag *diag) {
  Choice choice;
  guint found = 0;
  g_autoptr(Figure) figure = figure_new(options->map ? FIGURE_MAP : FIGURE_CURVES);
  if (!choose(table, options, &choice, diag))
    return g_ptr_array_unref(choice.curves), NULL;
  for (guint i = 0; i < table->rows->len && choice.map; i++) {
    g_autofree char *title = panel_title(table, g_ptr_array_index(table->rows, i), &choice);
    figure_panel(figure, title); /* in the order of the rows, whatever that of the labels is */
  }
  if (choice.map) {
    add_labels(figure, table, &choice, choice.x, true);
    add_labels(figure, table, &choice, choice.map, false);
  }
  for (guint i = 0; i < table->rows->len; i++)
    *left_out += !add_row(figure, table, g_ptr_array_index(table->rows, i), &choice);
  if (options->printed && !options->map) {
    add_printed(figure, table, options, &choice, &found);
    if (!found)
      diag_warning(diag, options->printed->file, 0, 0,
                   "no row is about a point of the figure (all its params must be columns)");
  }
  name_axes(figure, &choice, options);
  g_ptr_array_unref(choice.curves);
  if (*left_out == table->rows->len && !found) {
    diag_error(diag, table->file, 0, 0, "no row has a value of `%s` that could be drawn", choice.y);
    return NULL;
  }
  return choose_scales(figure, options, diag) ? g_steal_pointer(&figure) : NULL;
}

/* True if a ranking of primitives has each kind at one number of blocks only: a curve would be a dot. */
static bool has_one_number(const CsvTable *table) {
  g_autoptr(GHashTable) numbers = g_hash_table_new(g_str_hash, g_str_equal); /* of each kind */
  for (guint i = 0; i < table->rows->len; i++) {
    const CsvRow *row = g_ptr_array_index(table->rows, i);
    const char *kind = csv_table_field(table, row, "kind"), *blocks = csv_table_field(table, row, "blocks");
    const char *known = g_hash_table_lookup(numbers, kind);
    if (known && strcmp(known, blocks) != 0)
      return false;
    g_hash_table_insert(numbers, (gpointer)kind, (gpointer)blocks);
  }
  return true;
}

Figure *plot_figure(CsvTable *table, const PlotOptions *options, guint *left_out, Diag *diag) {
  *left_out = 0;
  if (table->rows->len == 0) {
    diag_error(diag, table->file, 0, 0, "has no rows");
    return NULL;
  }
  if (!columns_keep(table, options->where, diag))
    return NULL;
  bool one_each = is_primitives(table) && !options->x && !options->map && has_one_number(table);
  if ((columns_has(table, "key") && columns_has(table, "seed")) || (is_primitives(table) && !one_each))
    return plot_sweep(table, options, left_out, diag);
  if (one_each || (columns_has(table, "ratio") && columns_has(table, "mean_cycles")) || columns_has(table, "suite") ||
      columns_has(table, "elasticity"))
    return plot_bars(table, options, diag);
  diag_error(diag, table->file, 1, 1,
             "is no table of `lockstep sweep`, or of `rank`, `validate` or `sensitivity` with `--format csv`");
  return NULL;
}
