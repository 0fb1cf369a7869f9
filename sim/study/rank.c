#include "sim/study/rank.h"

#include <math.h>

GPtrArray *rank_scenarios(const GPtrArray *scenarios, const Machine *machine, const SamplesOptions *options,
                          unsigned seeds, Diag *diag) {
  g_autoptr(GArray) tasks = g_array_new(FALSE, FALSE, sizeof(SampleTask));
  for (guint i = 0; i < scenarios->len; i++) {
    SampleTask task = {.scenario = g_ptr_array_index(scenarios, i), .machine = machine, .seeds = seeds};
    g_array_append_val(tasks, task);
  }
  GPtrArray *rows = samples_take(tasks, options, diag);
  for (guint i = 0; rows && i < rows->len; i++) {
    const Measurement *baseline = g_ptr_array_index(rows, 0);
    Measurement *row = g_ptr_array_index(rows, i);
    bool both = row->verdict == VERDICT_COMPLETED && baseline->verdict == VERDICT_COMPLETED;
    row->ratio = both && row->cycles.mean > 0 ? baseline->cycles.mean / row->cycles.mean : NAN;
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
