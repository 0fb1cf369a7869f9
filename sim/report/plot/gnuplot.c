/* gnuplot.c - a figure as a gnuplot program, with its data in it. */
#include <gio/gio.h>
#include <math.h>
#include <string.h>

#include "sim/report/plot/figure.h"

/* Size of a panel, and what is around it, in points of an SVG or pixels of a PNG. */
enum {
  PANEL_WIDTH = 560,
  PANEL_HEIGHT = 380,
  KEY_LINE = 18,
  HEAD_HEIGHT = 30,
  BAR_WIDTH = 46,
  MARGIN_WIDTH = 120,
  LINE_CHARS = 60,
  LABEL_HEIGHT = 90,
  LABEL_CHAR = 6, /* the height of a character in a turned label */
  ROW_PANELS = 6, /* more panels than these stand in several rows */
  SIDE_BAR =
      13, /* of bars that lie on their side, one below the other: a bar, what is between those of two labels, ... */
  SIDE_GAP = 7,
  SIDE_FRAME = 76, /* ... a panel's title and axis, */
  SIDE_CHAR = 8,   /* the width of a character of a label, */
  SIDE_AXIS = 440, /* and the length of the axis */
  TITLE_CHAR = 9,
  COLOUR_CHARS = 14 /* right of a map: the bar of colours with its numbers and what they are */
};

/* Colours that people with any kind of colour vision tell apart (Okabe and Ito, 2008); more curves than these differ
 * by dashes. */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};
enum { COLOURS = G_N_ELEMENTS(colours) };

/* Of a map, from the lowest value to the highest: viridis in steps. Never white, as a place without a value is. */
#define MAP_COLOURS "0 '#440154', 1 '#414487', 2 '#2a788e', 3 '#22a884', 4 '#7ad151', 5 '#fde725'"

/* A number as gnuplot reads it, in any locale. */
static void append_number(GString *out, double value) {
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  if (isnan(value))
    g_string_append(out, " NaN");
  else
    g_string_append_printf(out, " %s", g_ascii_formatd(text, sizeof text, "%.9g", value));
}

/* In single quotes, in which gnuplot takes everything but a quote as it is. */
static char *quoted(const char *text) {
  g_auto(GStrv) parts = g_strsplit(text ? text : "", "'", -1);
  g_autofree char *inner = g_strjoinv("''", parts);
  return g_strdup_printf("'%s'", g_strdelimit(inner, "\r\n\t", ' '));
}

static void append_set(GString *out, const char *what, const char *text) {
  g_autofree char *value = quoted(text);
  g_string_append_printf(out, "set %s %s\n", what, value);
}

static void append_data(GString *out, const FigureSeries *series, guint panel, guint index) {
  g_string_append_printf(out, "$p%us%u << END\n", panel, index);
  for (guint i = 0; i < series->points->len; i++) {
    const FigurePoint *point = &g_array_index(series->points, FigurePoint, i);
    append_number(out, point->x);
    append_number(out, point->y);
    append_number(out, point->mean);
    append_number(out, point->lowest);
    append_number(out, point->highest);
    g_string_append_c(out, '\n');
  }
  g_string_append(out, "END\n");
}

/* --- the kinds --- */

/* Bars whose axis isn't logarithmic. */
static bool starts_at_zero(const Figure *figure) { return figure->kind == FIGURE_BARS && !figure->log_y; }

static bool has_band(const FigureSeries *series) {
  for (guint i = 0; i < series->points->len; i++) {
    const FigurePoint *point = &g_array_index(series->points, FigurePoint, i);
    if (point->lowest < point->highest)
      return true;
  }
  return false;
}

/* Which colour a series has: the same in all panels. */
static guint colour_of(const Figure *figure, const char *name) {
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < figure->panels->len; i++) {
    const FigurePanel *panel = g_ptr_array_index(figure->panels, i);
    for (guint j = 0; j < panel->series->len; j++) {
      const FigureSeries *series = g_ptr_array_index(panel->series, j);
      if (!series->is_printed)
        figure_label(names, series->name);
    }
  }
  return figure_label(names, name);
}

/* The bands first, so that curves lie over them. */
static void append_curves(GString *out, const Figure *figure, guint index) {
  const FigurePanel *panel = g_ptr_array_index(figure->panels, index);
  const char *separator = "plot";
  for (guint i = 0; i < panel->series->len; i++) {
    const FigureSeries *series = g_ptr_array_index(panel->series, i);
    if (series->is_printed || !has_band(series))
      continue;
    g_string_append_printf(
        out, "%s $p%us%u using 1:4:5 with filledcurves lc rgb '%s' fs transparent solid 0.2 noborder notitle",
        separator, index, i, colours[colour_of(figure, series->name) % COLOURS]);
    separator = ", \\\n ";
  }
  for (guint i = 0; i < panel->series->len; i++) {
    const FigureSeries *series = g_ptr_array_index(panel->series, i);
    guint colour = colour_of(figure, series->name);
    g_autofree char *name = quoted(series->name);
    if (series->is_printed)
      g_string_append_printf(
          out, "%s $p%us%u using 1:3 with points pt 6 ps 1.4 lw 2 lc rgb '%s' title %s", separator, index, i,
          colours[colour_of(figure, ((const FigureSeries *)g_ptr_array_index(panel->series, series->of))->name) %
                  COLOURS],
          name);
    else
      g_string_append_printf(out, "%s $p%us%u using 1:3 with linespoints pt 7 ps 0.4 lw 2 dt %u lc rgb '%s' title %s",
                             separator, index, i, colour / COLOURS + 1, colours[colour % COLOURS], name);
    separator = ", \\\n ";
  }
  g_string_append_c(out, '\n');
}

static guint longest_of(const GPtrArray *labels) {
  gsize longest = 0;
  for (guint i = 0; i < labels->len; i++)
    longest = MAX(longest, strlen(g_ptr_array_index(labels, i)));
  return (guint)longest;
}

/* Labels that are longer than their places stand beside each other only if they are turned. */
static bool are_long(const GPtrArray *labels) { return (longest_of(labels) + 2) * labels->len > LINE_CHARS; }

/* Bars with such labels lie on their side. */
static bool is_sideways(const Figure *figure) {
  bool any = false;
  for (guint i = 0; figure->kind == FIGURE_BARS && i < figure->panels->len; i++)
    any |= are_long(((const FigurePanel *)g_ptr_array_index(figure->panels, i))->x_labels);
  return any;
}

static void append_labels(GString *out, const char *axis, const GPtrArray *labels) {
  g_string_append_printf(out, "set %stics (", axis);
  for (guint i = 0; i < labels->len; i++) {
    g_autofree char *label = quoted(g_ptr_array_index(labels, i));
    g_string_append_printf(out, "%s%s %u", i ? ", " : "", label, i);
  }
  g_string_append_printf(out, ")%s\n", *axis == 'x' && are_long(labels) ? " rotate by -40" : ""); /* of a map */
}

/* gnuplot puts a number at each power of ten alone, which is one or none where values differ by less than a hundred
 * times. */
static void append_colour_tics(GString *out, const GArray *points) {
  double lowest = INFINITY, highest = -INFINITY;
  for (guint i = 0; i < points->len; i++) {
    lowest = fmin(lowest, g_array_index(points, FigurePoint, i).mean);
    highest = fmax(highest, g_array_index(points, FigurePoint, i).mean);
  }
  if (!(lowest > 0 && highest <= 1000 * lowest)) {
    g_string_append(out, "set cbtics autofreq\n");
    return;
  }
  const char *separator = "set cbtics (";
  for (int power = (int)floor(log10(lowest)); power <= (int)floor(log10(highest)); power++)
    for (const char *digit = "125"; *digit; digit++) {
      g_string_append_printf(out, "%s%ce%d", separator, *digit, power);
      separator = ", ";
    }
  g_string_append(out, ")\n");
}

static void append_map(GString *out, const Figure *figure, guint index) {
  const FigurePanel *panel = g_ptr_array_index(figure->panels, index);
  if (figure->log_y)
    append_colour_tics(out, ((const FigureSeries *)g_ptr_array_index(panel->series, 0))->points);
  append_labels(out, "x", panel->x_labels);
  append_labels(out, "y", panel->y_labels);
  g_string_append_printf(out, "set xrange [-0.5:%u.5]\nset yrange [-0.5:%u.5]\n", panel->x_labels->len - 1,
                         panel->y_labels->len - 1);
  /* boxes, since an image needs a value at each place, and a landscape of `tune` or failed points have gaps */
  g_string_append_printf(
      out, "plot $p%us0 using 1:2:(0.5):(0.5):3 with boxxyerror fs solid noborder lc palette notitle\n", index);
}

/* Half a decade below the lowest end of the figure's bars, which begin there on a logarithmic axis. */
static double lower_end(const Figure *figure) {
  double lowest = INFINITY;
  for (guint i = 0; i < figure->panels->len; i++) {
    const FigurePanel *panel = g_ptr_array_index(figure->panels, i);
    for (guint j = 0; j < panel->series->len; j++) {
      const FigureSeries *series = g_ptr_array_index(panel->series, j);
      for (guint k = 0; k < series->points->len; k++)
        lowest = fmin(lowest, g_array_index(series->points, FigurePoint, k).lowest);
    }
  }
  return pow(10, floor(2 * log10(lowest) - 0.1) / 2);
}

/* One below the other, the first at the top. */
static void append_side_bars(GString *out, const Figure *figure, const FigurePanel *panel, guint index) {
  double width = 0.84 / panel->series->len;
  append_labels(out, "y", panel->x_labels);
  g_string_append_printf(out, "set yrange [%u.5:-0.5]\n", panel->x_labels->len - 1);
  g_string_append(out, figure->log_y ? "set xrange [" : "set xrange [*<0:0<*]\n");
  if (figure->log_y) {
    append_number(out, lower_end(figure));
    g_string_append(out, ":*]\n");
  }
  for (guint i = 0; i < panel->series->len; i++) {
    const FigureSeries *series = g_ptr_array_index(panel->series, i);
    double shift = (i - (panel->series->len - 1) / 2.0) * width;
    g_autofree char *name = quoted(panel->series->len > 1 ? series->name : "");
    g_string_append_printf(out, "%s $p%us%u using ($3/2):($1%+.4f):(", i ? ", \\\n " : "plot", index, i, shift);
    if (figure->log_y)
      append_number(out, lower_end(figure));
    else
      g_string_append(out, "0");
    g_string_append_printf(out, "):3:($1%+.4f):($1%+.4f) with boxxyerror lc rgb '%s' title %s", shift - width * 0.45,
                           shift + width * 0.45, colours[i % COLOURS], name);
    if (has_band(series))
      g_string_append_printf(
          out, ", \\\n  $p%us%u using 4:($1%+.4f):($5-$4):(0) with vectors nohead lw 2 lc rgb 'black' notitle", index,
          i, shift);
  }
  g_string_append_c(out, '\n');
}

static void append_bars(GString *out, const FigurePanel *panel, guint index) {
  double width = 0.8 / panel->series->len;
  append_labels(out, "x", panel->x_labels);
  g_string_append_printf(out, "set xrange [-0.6:%u.6]\n", panel->x_labels->len - 1);
  for (guint i = 0; i < panel->series->len; i++) {
    const FigureSeries *series = g_ptr_array_index(panel->series, i);
    double shift = (i - (panel->series->len - 1) / 2.0) * width;
    g_autofree char *name = quoted(panel->series->len > 1 ? series->name : "");
    g_string_append_printf(out, "%s $p%us%u using ($1%+.4f):3:(%.4f) with boxes lc rgb '%s' title %s",
                           i ? ", \\\n " : "plot", index, i, shift, width * 0.9, colours[i % COLOURS], name);
    if (has_band(series))
      g_string_append_printf(
          out, ", \\\n  $p%us%u using ($1%+.4f):4:(0):($5-$4) with vectors nohead lw 2 lc rgb 'black' notitle", index,
          i, shift);
  }
  g_string_append_c(out, '\n');
}

/* A panel whose rows have no value keeps its place: gnuplot would give that to the next one. */
static void append_empty(GString *out, const Figure *figure, const FigurePanel *panel) {
  bool has_labels = panel->x_labels->len > 0;
  if (has_labels)
    append_labels(out, "x", panel->x_labels);
  g_string_append_printf(out, has_labels ? "set xrange [-0.6:%u.6]\n" : "set xrange [1:2]\nunset xtics\n",
                         panel->x_labels->len - 1);
  g_string_append(out, "set yrange [1:2]\nunset ytics\nset label 1 'no value' at graph 0.5,0.5 center\n");
  g_string_append(out, "plot NaN notitle\nunset label 1\nset xrange [*:*]\n");
  g_string_append_printf(out, "set yrange [%s]\n", starts_at_zero(figure) ? "*<0:0<*" : "*:*");
  g_string_append(out, "set xtics nomirror autofreq\nset ytics nomirror autofreq\n");
}

/* --- the whole --- */

static guint most_series(const Figure *figure) {
  guint most = 1;
  for (guint i = 0; i < figure->panels->len; i++)
    most = MAX(most, ((const FigurePanel *)g_ptr_array_index(figure->panels, i))->series->len);
  return most;
}

static guint panel_width(const Figure *figure) {
  guint most = 0;
  for (guint i = 0; i < figure->panels->len; i++)
    most = MAX(most, ((const FigurePanel *)g_ptr_array_index(figure->panels, i))->x_labels->len);
  return figure->kind == FIGURE_BARS ? MAX((guint)PANEL_WIDTH, most * BAR_WIDTH + MARGIN_WIDTH) : PANEL_WIDTH;
}

/* What the names of bars and places take from below the axis. */
static guint labels_height(const Figure *figure) {
  guint height = figure->kind == FIGURE_CURVES ? 0 : LABEL_HEIGHT;
  for (guint i = 0; i < figure->panels->len; i++) {
    const GPtrArray *labels = ((const FigurePanel *)g_ptr_array_index(figure->panels, i))->x_labels;
    if (are_long(labels))
      height = MAX(height, longest_of(labels) * LABEL_CHAR);
  }
  return height;
}

static guint columns_of(const Figure *figure) { return MIN(figure->panels->len, (guint)ROW_PANELS); }

static guint rows_of(const Figure *figure) { return (figure->panels->len + ROW_PANELS - 1) / ROW_PANELS; }

/* Of bars that lie on their side: those of a panel without a value have its labels all the same. */
static guint side_height(const FigurePanel *panel) {
  guint series = MAX(panel->series->len, 1);
  return SIDE_FRAME + (series > 1 ? series * KEY_LINE : 0) +
         MAX(panel->x_labels->len, 1) * (series * SIDE_BAR + SIDE_GAP);
}

static guint side_labels(const Figure *figure) {
  guint longest = 0;
  for (guint i = 0; i < figure->panels->len; i++)
    longest = MAX(longest, longest_of(((const FigurePanel *)g_ptr_array_index(figure->panels, i))->x_labels));
  return longest;
}

static guint head_height(const Figure *figure) { return figure->title ? HEAD_HEIGHT : 0; }

static guint figure_width(const Figure *figure) {
  guint width =
      is_sideways(figure) ? side_labels(figure) * SIDE_CHAR + SIDE_AXIS : panel_width(figure) * columns_of(figure);
  return MAX(width, figure->title ? (guint)g_utf8_strlen(figure->title, -1) * TITLE_CHAR : 0);
}

static guint figure_height(const Figure *figure) {
  guint keys = figure->kind == FIGURE_CURVES ? most_series(figure) * KEY_LINE : KEY_LINE;
  guint height = head_height(figure);
  if (!is_sideways(figure))
    return height + (PANEL_HEIGHT + keys + labels_height(figure)) * rows_of(figure);
  for (guint i = 0; i < figure->panels->len; i++)
    height += side_height(g_ptr_array_index(figure->panels, i));
  return height;
}

static void append_head(GString *out, const Figure *figure, const char *path, bool to_file) {
  bool sideways = is_sideways(figure);
  guint width = figure_width(figure), height = figure_height(figure);
  if (g_str_has_suffix(path, ".png"))
    g_string_append_printf(out, "set terminal pngcairo size %u,%u font 'sans,11' noenhanced\n", width, height);
  else
    g_string_append_printf(out, "set terminal svg size %u,%u dynamic font 'sans,13' background 'white' noenhanced\n",
                           width, height);
  if (to_file)
    append_set(out, "output", path);
  append_set(out, sideways ? "xlabel" : "ylabel", figure->y_label);
  append_set(out, sideways ? "ylabel" : "xlabel", figure->x_label);
  g_string_append(out, "set xlabel offset 0,0.4\n");
  g_string_append(out, "set border 3\nset tics nomirror\nset grid lt 1 lc rgb '#cccccc'\n");
  g_string_append(out, figure->kind == FIGURE_BARS ? "set style fill solid 0.8 noborder\nset bars 0.5\n" : "");
  g_string_append(out, figure->kind == FIGURE_MAP ? "unset grid\nset palette defined (" MAP_COLOURS ")\n"
                                                  : "set key below vertical maxcols 1 Left reverse height 1\n");
  if (figure->kind == FIGURE_MAP) {
    append_set(out, "cblabel", figure->colour_label);
    g_string_append_printf(out, "set cblabel offset 1,0\nset rmargin %d\n", COLOUR_CHARS);
  }
  const char *value_axis = figure->kind == FIGURE_MAP ? "cb" : sideways ? "x" : "y";
  if (figure->log_x)
    g_string_append(out, "set logscale x 2\n");
  if (figure->log_y)
    g_string_append_printf(out, "set logscale %s\n", value_axis);
  bool prefixed = figure->log_y && *figure->y_label; /* values of one unit; else they are quotients, too */
  g_string_append_printf(out, "set format %s '%s'\n", value_axis, prefixed ? "%.0s%c" : "%.4g");
  if (sideways)
    g_string_append_printf(out, "set yzeroaxis lt 1 lc rgb 'black'\nset lmargin %u\nset rmargin 3\n",
                           side_labels(figure) + 2);
  else if (starts_at_zero(figure))
    g_string_append(out, "set yrange [*<0:0<*]\nset xzeroaxis lt 1 lc rgb 'black'\n");
}

/* Panels of bars on their side stand one below the other, each as high as its bars need. */
static void append_place(GString *out, const Figure *figure, guint index) {
  double all = figure_height(figure), above = head_height(figure);
  for (guint i = 0; i < index; i++)
    above += side_height(g_ptr_array_index(figure->panels, i));
  double own = side_height(g_ptr_array_index(figure->panels, index));
  g_string_append(out, "set origin 0,");
  append_number(out, (all - above - own) / all);
  g_string_append(out, "\nset size 1,");
  append_number(out, own / all);
  g_string_append_c(out, '\n');
}

/* Unless it goes `to_file` the picture goes to gnuplot's standard output. */
static char *script_of(const Figure *figure, const char *path, bool to_file) {
  GString *out = g_string_new("# made by lockstep plot; gnuplot draws it\n");
  append_head(out, figure, path, to_file);
  for (guint i = 0; i < figure->panels->len; i++) {
    const FigurePanel *panel = g_ptr_array_index(figure->panels, i);
    for (guint j = 0; j < panel->series->len; j++)
      append_data(out, g_ptr_array_index(panel->series, j), i, j);
  }
  g_autofree char *title = quoted(figure->title);
  bool sideways = is_sideways(figure);
  if (sideways)
    g_string_append(out, "set multiplot");
  else
    g_string_append_printf(out, "set multiplot layout %u,%u", rows_of(figure), columns_of(figure));
  if (figure->title)
    g_string_append_printf(out, " title %s", title);
  g_string_append_c(out, '\n');
  for (guint i = 0; i < figure->panels->len; i++) {
    const FigurePanel *panel = g_ptr_array_index(figure->panels, i);
    append_set(out, "title", panel->title);
    if (sideways)
      append_place(out, figure, i);
    if (panel->series->len == 0)
      append_empty(out, figure, panel);
    else if (figure->kind == FIGURE_CURVES)
      append_curves(out, figure, i);
    else if (figure->kind == FIGURE_MAP)
      append_map(out, figure, i);
    else if (sideways)
      append_side_bars(out, figure, panel, i);
    else
      append_bars(out, panel, i);
  }
  g_string_append(out, "unset multiplot\n");
  return g_string_free(out, FALSE);
}

char *figure_script(const Figure *figure, const char *path) { return script_of(figure, path, true); }

GBytes *figure_draw(const Figure *figure, const char *path, Diag *diag) {
  g_autoptr(GError) error = NULL;
  g_autofree char *program = g_find_program_in_path("gnuplot");
  if (!program) {
    diag_error(diag, NULL, 0, 0, "no gnuplot here, which draws the picture");
    diag_hint(diag, "install it (Debian: gnuplot-nox), or keep its program with --script FILE");
    return NULL;
  }
  g_autofree char *script = script_of(figure, path, false);
  g_autoptr(GBytes) input = g_bytes_new(script, strlen(script));
  g_autoptr(GBytes) picture = NULL, complaint = NULL;
  const GSubprocessFlags pipes =
      G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE;
  g_autoptr(GSubprocess) child = g_subprocess_new(pipes, &error, program, "-", NULL);
  if (!child || !g_subprocess_communicate(child, input, NULL, &picture, &complaint, &error)) {
    diag_error(diag, NULL, 0, 0, "gnuplot can't be run: %s", error->message);
    return NULL;
  }
  if (g_subprocess_get_successful(child) && g_bytes_get_size(picture) > 0)
    return g_steal_pointer(&picture);
  g_autofree char *told = g_strndup(g_bytes_get_data(complaint, NULL), g_bytes_get_size(complaint));
  diag_error(diag, NULL, 0, 0, "gnuplot: %s", *g_strstrip(told) ? told : "it failed");
  return NULL;
}
