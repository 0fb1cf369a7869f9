#include "sim/study/rank.h"

#include <math.h>

#include "sim/engine/milli.h"

/* Mean and variance in one pass (Welford). */
static void sample_add(Sample *sample, double value) {
  sample->runs++;
  double off = value - sample->mean;
  sample->mean += off / sample->runs;
  sample->squares += off * (value - sample->mean);
  sample->deviation = sample->runs > 1 ? sqrt(sample->squares / (sample->runs - 1)) : 0;
  sample->lowest = sample->runs == 1 ? value : MIN(sample->lowest, value);
  sample->highest = sample->runs == 1 ? value : MAX(sample->highest, value);
}

static void row_add(RankRow *row, const RunResult *result) {
  sample_add(&row->cycles, (double)run_result_measured_cycles(result));
  sample_add(&row->l2_sectors, (double)result->counters.global_segments);
  sample_add(&row->dram_bytes, (double)result->dram_bytes);
  for (unsigned i = 0; i < TRANSFERS && result->locks.handovers; i++)
    sample_add(&row->transfer[i], (double)result->locks.transfer[i] / MILLI_CYCLE / (double)result->locks.handovers);
  if (result->transfers.found)
    sample_add(&row->measured_transfer, result->transfers.mean_cycles);
  if (verdict_rank(result->verdict) > verdict_rank(row->verdict))
    row->verdict = result->verdict;
  if (run_result_exit_status(result) != 0)
    row->as_expected = false;
  row->shared_bytes = MAX(row->shared_bytes, result->counters.shared_bytes_beyond_data);
  row->lock_bits = MAX(row->lock_bits, result->counters.lock_bits);
}

bool sample_scenario(const Scenario *scenario, const Machine *machine, const RunOptions *options, unsigned seeds,
                     RankRow *row, Diag *diag) {
  *row = (RankRow){
      .scenario = g_strdup(scenario->name),
      .about = g_strdup(scenario->about),
      .verdict = VERDICT_COMPLETED,
      .as_expected = true,
      .ratio = 1,
      .has_operations = scenario->measure.has_operations,
      .operations = scenario->measure.operations,
  };
  for (unsigned i = 0; i < seeds && !stop_asked(options->stop); i++) {
    RunOptions seeded = *options;
    seeded.seed += i;
    g_autoptr(RunResult) result = run_scenario(scenario, machine, &seeded, diag);
    if (!result)
      return false;
    if (stop_is_final(result->stop))
      break; /* half a run is no sample */
    row_add(row, result);
  }
  return true;
}

void rank_row_free(RankRow *row) {
  if (!row)
    return;
  g_free(row->scenario);
  g_free(row->about);
  g_free(row);
}

static void free_row(gpointer row) { rank_row_free(row); }

GPtrArray *rank_scenarios(const GPtrArray *scenarios, const Machine *machine, const RunOptions *options,
                          unsigned seeds, RankStep step, gpointer user, Diag *diag) {
  g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(free_row);
  for (guint i = 0; i < scenarios->len; i++) {
    const Scenario *scenario = g_ptr_array_index(scenarios, i);
    RankRow *row = g_new0(RankRow, 1);
    g_ptr_array_add(rows, row);
    if (step)
      step(i, scenario->name, user);
    if (!sample_scenario(scenario, machine, options, seeds, row, diag))
      return NULL;
    if (row->cycles.runs == 0) {
      g_ptr_array_set_size(rows, (gint)i);
      break;
    }
    const RankRow *baseline = g_ptr_array_index(rows, 0);
    bool both = row->verdict == VERDICT_COMPLETED && baseline->verdict == VERDICT_COMPLETED;
    row->ratio = both && row->cycles.mean > 0 ? baseline->cycles.mean / row->cycles.mean : NAN;
  }
  return g_steal_pointer(&rows);
}

double rank_ratio_deviation(const RankRow *baseline, const RankRow *row) {
  if (row == baseline || row->cycles.mean <= 0 || baseline->cycles.mean <= 0)
    return 0;
  return row->ratio *
         hypot(row->cycles.deviation / row->cycles.mean, baseline->cycles.deviation / baseline->cycles.mean);
}
