#include "sim/study/rank.h"

#include <math.h>

static bool counts(const Measurement *row) { return row->has_operations && row->operations > 0; }

const char *rank_uncounted(const GPtrArray *rows) {
  const char *uncounted = NULL;
  bool some = false;
  for (guint i = 0; i < rows->len; i++) {
    const Measurement *row = g_ptr_array_index(rows, i);
    some |= counts(row);
    if (!counts(row) && !uncounted)
      uncounted = row->scenario;
  }
  return some ? uncounted : NULL;
}

/* Whole runs that do different amounts of work can't be compared. */
static bool by_operation(const GPtrArray *rows) {
  bool differ = false;
  for (guint i = 0; i < rows->len; i++) {
    const Measurement *row = g_ptr_array_index(rows, i), *first = g_ptr_array_index(rows, 0);
    if (!counts(row))
      return false;
    differ |= row->operations != first->operations;
  }
  return differ;
}

GPtrArray *rank_scenarios(const GPtrArray *scenarios, const Machine *machine, const SamplesOptions *options,
                          unsigned seeds, Diag *diag) {
  g_autoptr(GArray) tasks = g_array_new(FALSE, FALSE, sizeof(SampleTask));
  for (guint i = 0; i < scenarios->len; i++) {
    SampleTask task = {.scenario = g_ptr_array_index(scenarios, i), .machine = machine, .seeds = seeds};
    g_array_append_val(tasks, task);
  }
  GPtrArray *rows = samples_take(tasks, options, diag);
  bool each = rows && by_operation(rows);
  for (guint i = 0; rows && i < rows->len; i++) {
    const Measurement *baseline = g_ptr_array_index(rows, 0);
    Measurement *row = g_ptr_array_index(rows, i);
    bool both = row->verdict == VERDICT_COMPLETED && baseline->verdict == VERDICT_COMPLETED;
    row->by_operation = each;
    row->ratio = both && row->cycles.mean > 0 ? baseline->cycles.mean / row->cycles.mean : NAN;
    if (each)
      row->ratio *= (double)row->operations / (double)baseline->operations;
  }
  return rows;
}

double rank_ratio_deviation(const Measurement *baseline, const Measurement *row) {
  if (isnan(row->ratio))
    return NAN;
  if (row == baseline || row->cycles.mean <= 0 || baseline->cycles.mean <= 0)
    return 0;
  return row->ratio *
         hypot(row->cycles.deviation / row->cycles.mean, baseline->cycles.deviation / baseline->cycles.mean);
}
