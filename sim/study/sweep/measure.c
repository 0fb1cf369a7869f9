#include "sim/study/sweep/measure.h"

#include <math.h>
#include <string.h>

#include "sim/study/csv_table.h"
#include "sim/study/sweep/row.h"

static void clear_measured(gpointer data) {
  g_free(((Measured *)data)->problem);
  g_free(((Measured *)data)->seeds);
}

static double number(const CsvTable *table, const CsvRow *row, const char *column) {
  const char *text = csv_table_field(table, row, column);
  return *text ? g_ascii_strtod(text, NULL) : NAN;
}

/* Takes the row of one seed. */
static void take_row(Measured *measured, unsigned seed, const CsvTable *table, const CsvRow *row) {
  const char *verdict = csv_table_field(table, row, "verdict"), *error = csv_table_field(table, row, "error");
  double time = number(table, row, "microseconds"), operations = number(table, row, "operations");
  measured->seeds[seed] = NAN;
  if (strcmp(verdict, "completed") != 0) {
    if (!measured->problem)
      measured->problem = g_strdup(*error ? error : verdict);
    return;
  }
  measured->seeds[seed] = time;
  measured->runs++;
  measured->mean += (time - measured->mean) / measured->runs;
  measured->lowest = measured->runs == 1 ? time : MIN(measured->lowest, time);
  measured->highest = measured->runs == 1 ? time : MAX(measured->highest, time);
  measured->rate = isnan(operations) || measured->mean <= 0 ? 0 : operations / measured->mean * 1e6;
}

static bool read_point(const SweepPoints *points, guint64 index, const Store *store, const char *header,
                       Measured *measured, Diag *diag) {
  const Plan *plan = points->plan;
  *measured = (Measured){.seeds = g_new0(double, plan->seeds)};
  for (unsigned seed = 0; seed < plan->seeds; seed++) {
    g_autofree char *key = sweep_key(points, index * plan->seeds + seed);
    g_autofree char *text = g_strdup_printf("%s\n%s\n", header, store_row(store, key));
    g_autoptr(CsvTable) table = csv_table_parse("sweep", text, NULL, 0, diag);
    if (!table || table->rows->len != 1)
      return false;
    take_row(measured, seed, table, g_ptr_array_index(table->rows, 0));
  }
  measured->completed = measured->runs == plan->seeds;
  return true;
}

GArray *measure_plan(const Plan *plan, Store *store, const SweepOptions *options, Diag *diag) {
  g_autoptr(SweepPoints) points = sweep_points_new(plan, diag);
  SweepSummary summary;
  if (!points || !sweep_run(points, 1, 1, store, options, &summary, diag) || summary.cut_short)
    return NULL;
  g_autofree char *header = row_header(plan);
  g_autoptr(GArray) all = g_array_new(FALSE, TRUE, sizeof(Measured));
  g_array_set_clear_func(all, clear_measured);
  for (guint64 i = 0; i < plan_points(plan) / plan->seeds; i++) {
    Measured measured;
    bool good = read_point(points, i, store, header, &measured, diag);
    g_array_append_val(all, measured);
    if (!good)
      return NULL;
  }
  return g_steal_pointer(&all);
}
