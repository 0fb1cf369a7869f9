#include "sim/report/csv.h"

#include <math.h>
#include <string.h>

#include "base/quote.h"

/* Appends a field, quoted if it must be, after a comma unless it is the first of its row. */
static void field(GString *out, const char *raw) {
  g_autofree char *readable = raw ? quote_lines(raw, strlen(raw)) : NULL;
  const char *text = readable;
  if (out->len && out->str[out->len - 1] != '\n')
    g_string_append_c(out, ',');
  if (!text)
    return;
  if (!strpbrk(text, ",\"\r\n")) {
    g_string_append(out, text);
    return;
  }
  g_string_append_c(out, '"');
  for (; *text; text++) {
    if (*text == '"')
      g_string_append_c(out, '"');
    g_string_append_c(out, *text);
  }
  g_string_append_c(out, '"');
}

static void field_format(GString *out, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void field_format(GString *out, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  field(out, text);
}

static void header(GString *out, const char *const *names) {
  for (; *names; names++)
    field(out, *names);
}

/* Several values in one field, separated by blanks, as a shell would read them. */
static void values_field(GString *out, const char *const *values) {
  g_autoptr(GString) all = g_string_new(NULL);
  for (; values && *values; values++) {
    g_autofree char *word = quote_word(*values);
    g_string_append_printf(all, "%s%s", all->len ? " " : "", word);
  }
  field(out, all->str);
}

static void changes_fields(GString *out, const Changes *changes) {
  values_field(out, changes->settings);
  values_field(out, changes->params);
}

void csv_run_header(GString *out) {
  static const char *const names[] = {"scenario", "machine",         "seed",     "verdict",    "exit_status",
                                      "cycles",   "measured_cycles", "clock_hz", "operations", "findings",
                                      "failures", "settings",        "params",   "ended_by",   NULL};
  header(out, names);
  for (unsigned i = 0; i < COUNTER_COUNT; i++)
    field(out, counter_info[i].name);
  g_string_append_c(out, '\n');
}

/* The ids of all findings, each once, separated by blanks. */
static char *finding_ids(const GPtrArray *findings) {
  GString *ids = g_string_new(NULL);
  bool seen[FINDING_COUNT] = {false};
  for (guint i = 0; i < findings->len; i++) {
    const Finding *finding = g_ptr_array_index(findings, i);
    if (!seen[finding->id])
      g_string_append_printf(ids, "%s%s", ids->len ? " " : "", finding_name(finding->id));
    seen[finding->id] = true;
  }
  return g_string_free(ids, FALSE);
}

void csv_run(const RunResult *result, GString *out) {
  field(out, result->scenario);
  field(out, result->machine);
  field_format(out, "%" G_GUINT64_FORMAT, result->seed);
  field(out, verdict_name(result->verdict));
  field_format(out, "%d", run_result_exit_status(result));
  field_format(out, "%" G_GUINT64_FORMAT, result->cycles);
  field_format(out, "%" G_GUINT64_FORMAT, run_result_measured_cycles(result));
  field_format(out, "%.0f", result->clock_hz);
  if (result->has_operations)
    field_format(out, "%" G_GINT64_FORMAT, result->operations);
  else
    field(out, "");
  g_autofree char *ids = finding_ids(result->findings);
  field(out, ids);
  field_format(out, "%u", result->failures ? result->failures->len : 0);
  changes_fields(out, &result->changes);
  field(out, stop_name(result->stop));
  for (unsigned i = 0; i < COUNTER_COUNT; i++)
    field_format(out, "%" G_GUINT64_FORMAT, counter_value(&result->counters, i));
  g_string_append_c(out, '\n');
}

void csv_rank_header(GString *out) {
  static const char *const names[] = {
      "scenario",         "machine",       "runs",           "verdict",           "as_expected", "mean_cycles",
      "deviation_cycles", "lowest_cycles", "highest_cycles", "mean_microseconds", "ratio",       "ratio_deviation",
      "shared_bytes",     "lock_bits",     "operations",     "settings",          "params",      NULL};
  header(out, names);
  g_string_append_c(out, '\n');
}

void csv_rank(const GPtrArray *rows, const Machine *machine, const Changes *changes, GString *out) {
  for (guint i = 0; i < rows->len; i++) {
    const RankRow *row = g_ptr_array_index(rows, i);
    field(out, row->scenario);
    field(out, machine->name);
    field_format(out, "%u", row->cycles.runs);
    field(out, verdict_name(row->verdict));
    field(out, row->as_expected ? "yes" : "no");
    field_format(out, "%.3f", row->cycles.mean);
    field_format(out, "%.3f", row->cycles.deviation);
    field_format(out, "%.0f", row->cycles.lowest);
    field_format(out, "%.0f", row->cycles.highest);
    field_format(out, "%.6f", row->cycles.mean / machine->clocks.sm * 1e6);
    if (isnan(row->ratio)) {
      field(out, "");
      field(out, "");
    } else {
      field_format(out, "%.4f", row->ratio);
      field_format(out, "%.4f", rank_ratio_deviation(g_ptr_array_index(rows, 0), row));
    }
    field_format(out, "%" G_GUINT64_FORMAT, row->shared_bytes);
    field_format(out, "%" G_GUINT64_FORMAT, row->lock_bits);
    if (row->has_operations)
      field_format(out, "%" G_GINT64_FORMAT, row->operations);
    else
      field(out, "");
    changes_fields(out, changes);
    g_string_append_c(out, '\n');
  }
}

void csv_validation_header(GString *out) {
  static const char *const names[] = {
      "suite",  "row",       "scenario",  "machine",   "group",         "metric",    "baseline", "printed",
      "unit",   "published", "predicted", "deviation", "error_percent", "judgement", "verdict",  "as_expected",
      "source", "page",      "note",      "settings",  "params",        NULL};
  header(out, names);
  g_string_append_c(out, '\n');
}

static void append_validation_row(const char *suite, const ValidationRow *row, const Changes *changes, GString *out) {
  g_autofree char *judgement = validation_judgement_text(row);
  field(out, suite);
  field(out, row->row);
  field(out, row->scenario);
  field(out, row->machine);
  field(out, validation_group_name(row->group));
  field(out, metric_name(row->metric));
  field(out, row->baseline);
  field_format(out, "%g", row->printed);
  field(out, row->unit);
  field_format(out, "%.6g", row->published);
  field_format(out, "%.6g", row->predicted);
  field_format(out, "%.6g", row->deviation);
  if (row->has_error)
    field_format(out, "%.2f", row->error_percent);
  else
    field(out, "");
  field(out, judgement);
  field(out, verdict_name(row->verdict));
  field(out, row->as_expected ? "yes" : "no");
  field(out, row->source);
  field(out, row->page);
  field(out, row->note);
  values_field(out, changes->settings);
  values_field(out, (const char *const *)row->params);
  g_string_append_c(out, '\n');
}

void csv_validation(const Validation *validation, const Changes *changes, GString *out) {
  for (guint i = 0; i < validation->rows->len; i++)
    append_validation_row(validation->suite, g_ptr_array_index(validation->rows, i), changes, out);
}
