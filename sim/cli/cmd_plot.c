#include <string.h>

#include "base/datadir.h"
#include "sim/cli/command.h"
#include "sim/cli/session.h"
#include "sim/report/plot/plot.h"
#include "sim/study/suite.h"

enum { TABLE_BYTES_MAX = 1 << 30 };

static const CommandHelp help = {
    .name = "plot",
    .synopsis = "TABLE",
    .about = "Draws the CSV of a sweep: curves over the parameter with most values (or --x), one for each\n"
             "combination of what else varies, with a band over seeds, a panel for each machine; or a map over two\n"
             "parameters (--map). Draws the CSV of `rank`, `validate` or `sensitivity` as bars, that of\n"
             "`rank --primitives` at several numbers of blocks as curves. gnuplot makes the picture.",
    .groups = OPTIONS_OUTPUT | OPTIONS_PLOT,
    .example = "  lockstep sweep plan.yaml -o mutexes.csv && lockstep plot mutexes.csv -o mutexes.svg\n"
               "  lockstep plot out.csv --x imax --map blocks --y microseconds -o map.png\n",
};

static CsvTable *load_table(const char *path, Diag *diag) {
  g_autofree char *resolved = datadir_resolve(path);
  return csv_table_read(resolved, TABLE_BYTES_MAX, NULL, 0, diag);
}

static bool take_scales(const char *log, PlotOptions *plot, Diag *diag) {
  if (!log)
    return true;
  if (*log && strspn(log, "xy") == strlen(log)) {
    plot->log_x = strchr(log, 'x') ? AXIS_LOG : AXIS_LINEAR;
    plot->log_y = strchr(log, 'y') ? AXIS_LOG : AXIS_LINEAR;
    return true;
  }
  if (strcmp(log, "none") != 0)
    return diag_usage(diag, "--log %s: expected x, y, xy or none", log);
  plot->log_x = plot->log_y = AXIS_LINEAR;
  return true;
}

static void draw(CsvTable *table, const PlotOptions *plot, const Options *options, Diag *diag) {
  guint left_out;
  g_autoptr(Figure) figure = plot_figure(table, plot, &left_out, diag);
  if (!figure)
    return;
  if (left_out)
    diag_note(diag, table->file, 0, 0, "%u of %u rows have no value here and are left out", left_out,
              table->rows->len);
  g_autofree char *script = figure_script(figure, options->output);
  if (options->script && !datadir_write_file(options->script, script, strlen(script), "gnuplot's program", diag))
    return;
  g_autoptr(GBytes) picture = figure_draw(figure, options->output, diag);
  if (picture)
    datadir_write_file(options->output, g_bytes_get_data(picture, NULL), g_bytes_get_size(picture), "the picture",
                       diag);
}

static int plot(const Options *options, Diag *diag) {
  g_auto(GStrv) curves = options->curves ? g_strsplit(options->curves, ",", -1) : NULL;
  PlotOptions plot = {.x = options->x,
                      .y = options->y,
                      .map = options->map,
                      .curves = curves,
                      .panels = options->panels,
                      .where = options->where,
                      .title = options->title};
  if (!options->rest[0] || options->rest[1])
    return diag_usage(diag, "expected one table"), STATUS_OK;
  if (!options->output || !(g_str_has_suffix(options->output, ".svg") || g_str_has_suffix(options->output, ".png")))
    return diag_usage(diag, "expected -o FILE, an .svg or a .png"), STATUS_OK;
  if (!take_scales(options->log, &plot, diag))
    return STATUS_OK;
  g_autoptr(CsvTable) table = load_table(options->rest[0], diag);
  g_autoptr(CsvTable) suite = table && options->over ? suite_table(options->over, diag) : NULL;
  plot.printed = suite;
  if (table && (suite || !options->over))
    draw(table, &plot, options, diag);
  return STATUS_OK;
}

int cmd_plot(int argc, char **argv) { return session_command(&help, argc, argv, plot); }
