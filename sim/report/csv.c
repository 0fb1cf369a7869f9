#include "sim/report/csv.h"

#include <math.h>

#include "sim/study/csv_field.h"

void csv_run_header(GString *out) {
  static const char *const names[] = {"scenario", "machine",         "seed",     "verdict",    "exit_status",
                                      "cycles",   "measured_cycles", "clock_hz", "operations", "findings",
                                      "failures", "settings",        "params",   "ended_by",   NULL};
  csv_field_header(out, names);
  for (unsigned i = 0; i < COUNTER_COUNT; i++)
    csv_field(out, counter_info[i].name);
  g_string_append(out, ",seeds,mean_cycles,least_cycles,most_cycles\n");
}

void csv_run(const RunResult *result, GString *out) {
  csv_field(out, result->scenario);
  csv_field(out, result->machine);
  csv_field_format(out, "%" G_GUINT64_FORMAT, result->seed);
  csv_field(out, verdict_name(result->verdict));
  csv_field_format(out, "%d", run_result_exit_status(result));
  csv_field_format(out, "%" G_GUINT64_FORMAT, result->cycles);
  csv_field_format(out, "%" G_GUINT64_FORMAT, run_result_measured_cycles(result));
  csv_field_format(out, "%.0f", result->clock_hz);
  if (result->has_operations)
    csv_field_format(out, "%" G_GINT64_FORMAT, result->operations);
  else
    csv_field(out, "");
  g_autofree char *ids = csv_field_finding_ids(result->findings);
  csv_field(out, ids);
  csv_field_format(out, "%u", result->failures ? result->failures->len : 0);
  csv_field_changes(out, &result->changes);
  csv_field(out, stop_name(result->stop));
  for (unsigned i = 0; i < COUNTER_COUNT; i++)
    csv_field_format(out, "%" G_GUINT64_FORMAT, counter_value(&result->counters, i));
  uint64_t cycles = run_result_measured_cycles(result);
  csv_field_format(out, "%u", MAX(result->span.seeds, 1));
  csv_field_format(out, "%.0f", result->span.seeds ? result->span.mean : (double)cycles);
  csv_field_format(out, "%" G_GUINT64_FORMAT, result->span.seeds ? result->span.least : cycles);
  csv_field_format(out, "%" G_GUINT64_FORMAT, result->span.seeds ? result->span.most : cycles);
  g_string_append_c(out, '\n');
}

void csv_rank_header(GString *out) {
  static const char *const names[] = {"scenario",
                                      "machine",
                                      "runs",
                                      "verdict",
                                      "as_expected",
                                      "mean_cycles",
                                      "deviation_cycles",
                                      "lowest_cycles",
                                      "highest_cycles",
                                      "mean_microseconds",
                                      "ratio",
                                      "ratio_deviation",
                                      "shared_bytes",
                                      "lock_bits",
                                      "operations",
                                      "ratio_of",
                                      "settings",
                                      "params",
                                      NULL};
  csv_field_header(out, names);
  g_string_append_c(out, '\n');
}

void csv_rank(const GPtrArray *rows, const Machine *machine, const Changes *changes, GString *out) {
  for (guint i = 0; i < rows->len; i++) {
    const Measurement *row = g_ptr_array_index(rows, i);
    csv_field(out, row->scenario);
    csv_field(out, machine->name);
    csv_field_format(out, "%u", row->cycles.runs);
    csv_field(out, verdict_name(row->verdict));
    csv_field(out, row->as_expected ? "yes" : "no");
    csv_field_format(out, "%.3f", row->cycles.mean);
    csv_field_format(out, "%.3f", row->cycles.deviation);
    csv_field_format(out, "%.0f", row->cycles.lowest);
    csv_field_format(out, "%.0f", row->cycles.highest);
    csv_field_format(out, "%.6f", row->cycles.mean / machine->clocks.sm * 1e6);
    if (isnan(row->ratio)) {
      csv_field(out, "");
      csv_field(out, "");
    } else {
      csv_field_format(out, "%.4f", row->ratio);
      csv_field_format(out, "%.4f", rank_ratio_deviation(g_ptr_array_index(rows, 0), row));
    }
    csv_field_format(out, "%" G_GUINT64_FORMAT, row->shared_bytes);
    csv_field_format(out, "%" G_GUINT64_FORMAT, row->lock_bits);
    if (row->has_operations)
      csv_field_format(out, "%" G_GINT64_FORMAT, row->operations);
    else
      csv_field(out, "");
    csv_field(out, row->by_operation ? "operation" : "run");
    csv_field_changes(out, changes);
    g_string_append_c(out, '\n');
  }
}

void csv_validation_header(GString *out) {
  static const char *const names[] = {
      "suite",  "row",       "scenario",  "machine",   "group",         "metric",    "baseline", "printed",
      "unit",   "published", "predicted", "deviation", "error_percent", "judgement", "verdict",  "as_expected",
      "source", "page",      "note",      "statement", "settings",      "params",    "set",      NULL};
  csv_field_header(out, names);
  g_string_append_c(out, '\n');
}

static void append_validation_row(const char *suite, const ValidationRow *row, const Changes *changes, GString *out) {
  g_autofree char *judgement = validation_judgement_text(row);
  csv_field(out, suite);
  csv_field(out, row->row);
  csv_field(out, row->scenario);
  csv_field(out, row->machine);
  csv_field(out, validation_group_name(row->group));
  csv_field(out, metric_name(row->metric));
  csv_field(out, row->baseline);
  csv_field_format(out, "%g", row->printed);
  csv_field(out, row->unit);
  csv_field_format(out, "%.6g", row->published);
  if (isnan(row->predicted)) {
    csv_field(out, "");
    csv_field(out, "");
  } else {
    csv_field_format(out, "%.6g", row->predicted);
    csv_field_format(out, "%.6g", row->deviation);
  }
  if (row->has_error)
    csv_field_format(out, "%.2f", row->error_percent);
  else
    csv_field(out, "");
  csv_field(out, judgement);
  csv_field(out, verdict_name(row->verdict));
  csv_field(out, row->as_expected ? "yes" : "no");
  csv_field(out, row->source);
  csv_field(out, row->page);
  csv_field(out, row->note);
  csv_field(out, row->statement);
  csv_field_values(out, changes->settings);
  csv_field_values(out, (const char *const *)row->params);
  csv_field_values(out, (const char *const *)row->changes);
  g_string_append_c(out, '\n');
}

void csv_validation(const Validation *validation, const Changes *changes, GString *out) {
  for (guint i = 0; i < validation->rows->len; i++)
    append_validation_row(validation->suite, g_ptr_array_index(validation->rows, i), changes, out);
}
