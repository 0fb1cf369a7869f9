#include <math.h>
#include <string.h>

#include "sim/cli/command.h"
#include "sim/cli/session.h"
#include "sim/cli/studies.h"
#include "sim/report/json_studies.h"
#include "sim/study/csv_field.h"
#include "sim/study/sweep/tune.h"

enum { SEEDS = 4, NEAR_PERCENT = 2 };

static const CommandHelp help = {
    .name = "tune",
    .synopsis = "SCENARIO",
    .about =
        "Finds the values of a scenario's params under which it (or, if it counts them, an operation) takes the\n"
        "least time. A param with a range is searched (-p imax=1..4096), others are fixed. A grid whose values grow\n"
        "by a constant factor comes first, then a pattern search from its best point with ever smaller steps;\n"
        "--budget says how many points are measured, each over --seeds seeds. -o FILE keeps the landscape as the\n"
        "table of a sweep, which `plot --map` draws.",
    .groups = OPTIONS_MACHINE | OPTIONS_SCENARIO | OPTIONS_RUN | OPTIONS_STUDY | OPTIONS_TUNE | OPTIONS_OUTPUT |
              OPTIONS_FORMAT,
    .example = "  lockstep tune traces/primitives/mutex_spin_backoff.yaml -m gtx580 -p blocks=128 -p imax=1..1024\n",
};

static void clear_axis(gpointer axis) { g_free(((TuneAxis *)axis)->name); }

/* "imax=1..4096" as an axis; false if it isn't of that form. */
static bool read_axis(const char *param, TuneAxis *axis) {
  const char *equals = strchr(param, '=');
  g_auto(GStrv) ends = g_strsplit(equals ? equals + 1 : "", "..", -1);
  if (g_strv_length(ends) != 2 || !g_ascii_string_to_signed(ends[0], 10, 0, TUNE_VALUE_MAX, &axis->lowest, NULL) ||
      !g_ascii_string_to_signed(ends[1], 10, 0, TUNE_VALUE_MAX, &axis->highest, NULL))
    return false;
  axis->name = g_strndup(param, (gsize)(equals - param));
  return true;
}

/* Several values in a form that a sweep takes, and a search doesn't. */
static bool is_several(const char *param) {
  const char *equals = strchr(param, '=');
  return equals && (strchr(equals, ',') || strstr(equals, ".."));
}

/* Parts the params into those that are searched and the others, which `fixed` gets. */
static bool part_params(const Options *options, GArray *axes, GStrvBuilder *fixed, Diag *diag) {
  for (char **param = options->params; param && *param; param++) {
    TuneAxis axis;
    bool is_axis = read_axis(*param, &axis);
    if (is_axis)
      g_array_append_val(axes, axis);
    else
      g_strv_builder_add(fixed, *param);
    if (is_axis ? axis.lowest >= axis.highest : is_several(*param))
      return diag_usage(diag,
                        "-p %s: expected LOWEST..HIGHEST, whole numbers from 0 to %" G_GINT64_FORMAT ", upwards",
                        *param, TUNE_VALUE_MAX);
  }
  if (axes->len == 0)
    return diag_usage(diag, "nothing to search: give a param's range, as in -p imax=1..4096 (-s isn't searched)");
  if (axes->len > TUNE_AXES_MAX)
    return diag_usage(diag, "at most %d params are searched at a time", TUNE_AXES_MAX);
  return true;
}

static void append_values(GString *out, const GArray *axes, const TunePoint *point) {
  for (guint i = 0; i < axes->len; i++)
    g_string_append_printf(out, "%s%s=%" G_GINT64_FORMAT, i ? " " : "", g_array_index(axes, TuneAxis, i).name,
                           point->value[i]);
}

/* Between which values the time is near the best one's: a valley may be wide. */
static void append_valley(GString *out, const GArray *axes, const Tuned *tuned, double best) {
  for (guint i = 0; i < axes->len; i++) {
    gint64 lowest = G_MAXINT64, highest = G_MININT64;
    for (guint j = 0; j < tuned->points->len; j++) {
      const TunePoint *point = &g_array_index(tuned->points, TunePoint, j);
      if (point->cost > best * (1 + NEAR_PERCENT / 100.0))
        continue;
      lowest = MIN(lowest, point->value[i]);
      highest = MAX(highest, point->value[i]);
    }
    g_string_append_printf(out, "%s%s from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, i ? ", " : "",
                           g_array_index(axes, TuneAxis, i).name, lowest, highest);
  }
}

static gint compare_points(gconstpointer a, gconstpointer b) {
  double difference = ((const TunePoint *)a)->cost - ((const TunePoint *)b)->cost;
  if (difference > 0 || difference < 0)
    return difference > 0 ? 1 : -1;
  for (guint i = 0; i < TUNE_AXES_MAX; i++) {
    gint64 one = ((const TunePoint *)a)->value[i], other = ((const TunePoint *)b)->value[i];
    if (one != other)
      return one > other ? 1 : -1;
  }
  return 0;
}

static void append_landscape(GString *out, const GArray *axes, const Tuned *tuned) {
  g_autoptr(GArray) sorted = g_array_copy(tuned->points);
  g_array_sort(sorted, compare_points);
  for (guint i = 0; i < axes->len; i++)
    g_string_append_printf(out, "%12s", g_array_index(axes, TuneAxis, i).name);
  g_string_append_printf(out, "%16s  over seeds%s\n", "time (us)", tuned->counts_vary ? ", of an operation" : "");
  for (guint i = 0; i < sorted->len; i++) {
    const TunePoint *point = &g_array_index(sorted, TunePoint, i);
    for (guint j = 0; j < axes->len; j++)
      g_string_append_printf(out, "%12" G_GINT64_FORMAT, point->value[j]);
    if (isinf(point->mean))
      g_string_append_printf(out, "               -  doesn't complete: %s\n", point->problem);
    else
      g_string_append_printf(out, "%16.3f  %.3f .. %.3f", point->mean, point->lowest, point->highest);
    if (!isinf(point->mean) && tuned->counts_vary)
      g_string_append_printf(out, ", %.4f", point->cost);
    g_string_append(out, isinf(point->mean) ? "" : "\n");
  }
}

static char *tune_text(const GArray *axes, const Tuned *tuned, unsigned seeds) {
  GString *out = g_string_new("best: ");
  const TunePoint *best = &g_array_index(tuned->points, TunePoint, tuned->best);
  append_values(out, axes, best);
  g_string_append_printf(out, ", %.3f us (%.3f .. %.3f over %u seed%s)\n", best->mean, best->lowest, best->highest,
                         seeds, seeds == 1 ? "" : "s");
  if (tuned->counts_vary)
    g_string_append_printf(out, "an operation takes %.4f us: that is compared, since their number varies\n",
                           best->cost);
  if (!isnan(tuned->plain))
    g_string_append_printf(out, "with the scenario's own values: %.3f us, %s%.2f times as long\n", tuned->plain,
                           tuned->counts_vary ? "an operation " : "", tuned->plain_cost / best->cost);
  g_string_append_printf(out, "within %d %% of it: ", NEAR_PERCENT);
  append_valley(out, axes, tuned, best->cost);
  guint points = tuned->points->len;
  g_string_append_printf(out, "\n%u point%s (%u of the grid), %u run%s\n\n", points, points == 1 ? "" : "s",
                         tuned->grid, points * seeds, points * seeds == 1 ? "" : "s");
  append_landscape(out, axes, tuned);
  return g_string_free(out, FALSE);
}

/* A row for each point, in the order in which they were measured. */
static char *tune_csv(const GArray *axes, const Tuned *tuned) {
  GString *out = g_string_new(NULL);
  for (guint i = 0; i < axes->len; i++)
    csv_field(out, g_array_index(axes, TuneAxis, i).name);
  static const char *const names[] = {
      "mean_microseconds", "lowest_microseconds", "highest_microseconds", "compared_microseconds", "best", NULL};
  for (guint i = 0; names[i]; i++)
    csv_field(out, names[i]);
  for (guint i = 0; i < tuned->points->len; i++) {
    const TunePoint *point = &g_array_index(tuned->points, TunePoint, i);
    double numbers[] = {point->mean, point->lowest, point->highest, point->cost};
    g_string_append_c(out, '\n');
    for (guint j = 0; j < axes->len; j++)
      csv_field_format(out, "%" G_GINT64_FORMAT, point->value[j]);
    for (guint j = 0; j < G_N_ELEMENTS(numbers); j++)
      if (isinf(point->mean))
        csv_field(out, "");
      else
        csv_field_format(out, "%.6f", numbers[j]);
    csv_field_format(out, "%d", i == tuned->best);
  }
  g_string_append_c(out, '\n');
  return g_string_free(out, FALSE);
}

static char *tune_json(const GArray *axes, const Tuned *tuned, const Options *options, unsigned seeds) {
  Changes changes = options_changes(options);
  g_autofree char *object =
      json_tune(tuned, axes, options->rest[0], options->machines ? options->machines[0] : NULL, &changes, seeds);
  return g_strconcat(object, "\n", NULL);
}

static int search(const Options *options, const GArray *axes, Diag *diag) {
  guint budget = options->budget ? (guint)options->budget : TUNE_BUDGET_DEFAULT;
  g_autoptr(Plan) plan = studies_plan(options, SEEDS, diag);
  if (!plan)
    return STATUS_OK;
  g_autofree char *header = tune_header(plan, axes);
  g_autoptr(Store) store =
      options->output ? store_open(options->output, header, options->fresh, diag) : store_new(header);
  if (!store)
    return STATUS_OK;
  Progress progress;
  SweepOptions sweep = studies_begin(options, &progress);
  g_autoptr(Tuned) tuned = tune(plan, axes, budget, store, &sweep, diag);
  progress_end(&progress);
  if (!tuned)
    return diag_has_errors(diag) ? STATUS_OK : studies_cut_short(options, diag);
  if (options->output) {
    g_autoptr(GPtrArray) keys = tune_keys(plan, axes, tuned, diag);
    if (!store_finish(store, keys, diag))
      return STATUS_OK;
  }
  g_autofree char *text = options->format == FORMAT_CSV    ? tune_csv(axes, tuned)
                          : options->format == FORMAT_JSON ? tune_json(axes, tuned, options, plan->seeds)
                                                           : tune_text(axes, tuned, plan->seeds);
  return session_write(text);
}

static int act(const Options *options, Diag *diag) {
  g_autoptr(GArray) axes = g_array_new(FALSE, TRUE, sizeof(TuneAxis));
  g_array_set_clear_func(axes, clear_axis);
  g_autoptr(GStrvBuilder) fixed = g_strv_builder_new();
  if (!part_params(options, axes, fixed, diag))
    return STATUS_OK;
  Options plain = *options; /* borrows what it points to, but for the params */
  plain.params = g_strv_builder_end(fixed);
  int status = search(&plain, axes, diag);
  g_strfreev(plain.params);
  return status;
}

int cmd_tune(int argc, char **argv) { return session_command(&help, argc, argv, act); }
