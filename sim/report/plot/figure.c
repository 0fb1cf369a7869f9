#include "sim/report/plot/figure.h"

#include <string.h>

static void free_series(gpointer data) {
  FigureSeries *series = data;
  g_free(series->name);
  g_array_unref(series->points);
  g_free(series);
}

static void free_panel(gpointer data) {
  FigurePanel *panel = data;
  g_free(panel->title);
  g_ptr_array_unref(panel->series);
  g_ptr_array_unref(panel->x_labels);
  g_ptr_array_unref(panel->y_labels);
  g_free(panel);
}

Figure *figure_new(FigureKind kind) {
  Figure *figure = g_new0(Figure, 1);
  figure->kind = kind;
  figure->panels = g_ptr_array_new_with_free_func(free_panel);
  return figure;
}

void figure_free(Figure *figure) {
  if (!figure)
    return;
  g_free(figure->title);
  g_free(figure->x_label);
  g_free(figure->y_label);
  g_free(figure->colour_label);
  g_ptr_array_unref(figure->panels);
  g_free(figure);
}

FigurePanel *figure_panel(Figure *figure, const char *title) {
  for (guint i = 0; i < figure->panels->len; i++) {
    FigurePanel *panel = g_ptr_array_index(figure->panels, i);
    if (strcmp(panel->title, title) == 0)
      return panel;
  }
  FigurePanel *panel = g_new0(FigurePanel, 1);
  panel->title = g_strdup(title);
  panel->series = g_ptr_array_new_with_free_func(free_series);
  panel->x_labels = g_ptr_array_new_with_free_func(g_free);
  panel->y_labels = g_ptr_array_new_with_free_func(g_free);
  g_ptr_array_add(figure->panels, panel);
  return panel;
}

FigureSeries *figure_series(FigurePanel *panel, const char *name) {
  for (guint i = 0; i < panel->series->len; i++) {
    FigureSeries *series = g_ptr_array_index(panel->series, i);
    if (strcmp(series->name, name) == 0)
      return series;
  }
  FigureSeries *series = g_new0(FigureSeries, 1);
  series->name = g_strdup(name);
  series->points = g_array_new(FALSE, FALSE, sizeof(FigurePoint));
  g_ptr_array_add(panel->series, series);
  return series;
}

guint figure_label(GPtrArray *labels, const char *label) {
  for (guint i = 0; i < labels->len; i++)
    if (strcmp(g_ptr_array_index(labels, i), label) == 0)
      return i;
  g_ptr_array_add(labels, g_strdup(label));
  return labels->len - 1;
}

void figure_add(FigureSeries *series, double x, double y, double value) {
  guint at = 0;
  for (; at < series->points->len; at++) {
    FigurePoint *point = &g_array_index(series->points, FigurePoint, at);
    if (point->x == x && point->y == y) {
      point->mean += (value - point->mean) / ++point->count;
      point->lowest = MIN(point->lowest, value);
      point->highest = MAX(point->highest, value);
      return;
    }
    if (point->x > x || (point->x == x && point->y > y))
      break;
  }
  FigurePoint point = {.x = x, .y = y, .mean = value, .lowest = value, .highest = value, .count = 1};
  g_array_insert_val(series->points, at, point);
}
