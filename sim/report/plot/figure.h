/* figure.h - a picture before it is drawn: panels side by side, each with curves, a map, or bars; and its text for
 * gnuplot.
 * Ownership: a Figure owns all that it holds. */
#ifndef LOCKSTEP_REPORT_PLOT_FIGURE_H
#define LOCKSTEP_REPORT_PLOT_FIGURE_H

#include <glib.h>
#include <stdbool.h>

#include "base/diag.h"

typedef enum { FIGURE_CURVES, FIGURE_MAP, FIGURE_BARS } FigureKind;

/* A value with what it varies over: seeds of a sweep, or runs of a ranking. In a map `y` is the second axis, and
 * `mean` the colour. */
typedef struct FigurePoint {
  double x, y;
  double mean, lowest, highest;
  unsigned count; /* of the values in it */
} FigurePoint;

/* A curve, or a row of bars. */
typedef struct FigureSeries {
  char *name;
  GArray *points;  /* FigurePoint; curves: by x; bars: x is the category's index */
  bool is_printed; /* published values: marks without a line, in the colour of the series `of` */
  guint of;
} FigureSeries;

typedef struct FigurePanel {
  char *title;
  GPtrArray *series;              /* FigureSeries * */
  GPtrArray *x_labels, *y_labels; /* char *: categories of bars and maps; empty for curves */
} FigurePanel;

typedef struct Figure {
  FigureKind kind;
  char *title; /* NULL: none */
  char *x_label, *y_label, *colour_label;
  bool log_x, log_y;
  GPtrArray *panels; /* FigurePanel * */
} Figure;

Figure *figure_new(FigureKind kind);
void figure_free(Figure *figure);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Figure, figure_free)
/* The panel or series of that title, made if there is none. Borrowed. */
FigurePanel *figure_panel(Figure *figure, const char *title);
FigureSeries *figure_series(FigurePanel *panel, const char *name);
/* The index of a label among `labels`, appended if it isn't there. */
guint figure_label(GPtrArray *labels, const char *label);
/* Adds a value to the point at x and y; the point is made if there is none. */
void figure_add(FigureSeries *series, double x, double y, double value);

/* The gnuplot program that writes the figure to `path`, an SVG or (it ends in .png) a PNG. The same figure gives the
 * same bytes. Free with g_free. */
char *figure_script(const Figure *figure, const char *path);
/* The picture that gnuplot makes, of the kind that `path` has by its ending; nothing is written there. NULL after
 * errors: gnuplot isn't there, or it complained. Free with g_bytes_unref. */
GBytes *figure_draw(const Figure *figure, const char *path, Diag *diag);

#endif
