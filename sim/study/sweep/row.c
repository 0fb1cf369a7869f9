#include "sim/study/sweep/row.h"

#include <string.h>

#include "sim/study/csv_field.h"

/* The columns around those of the axes and counters. */
static const char *const subject_columns[] = {"scenario", "machine", NULL};
static const char *const result_columns[] = {"seed",
                                             "verdict",
                                             "exit_status",
                                             "cycles",
                                             "measured_cycles",
                                             "microseconds",
                                             "operations",
                                             "operations_per_second",
                                             "findings",
                                             "ended_by",
                                             NULL};
static const char *const last_columns[] = {"error", "key", NULL};

static bool is_taken(const char *name) {
  return g_strv_contains(subject_columns, name) || g_strv_contains(result_columns, name) ||
         g_strv_contains(last_columns, name);
}

/* A param may be called as one of the other columns is. */
static char *column_name(const Axis *axis) {
  return g_strdup_printf("%s%s", is_taken(axis->name) ? "param." : "", axis->name);
}

/* The columns of the axes of one kind, as they first occur in the parts: Axis *. */
static void list_columns(const Plan *plan, AxisKind kind, GPtrArray *columns) {
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < plan->parts->len; i++) {
    const PlanPart *part = g_ptr_array_index(plan->parts, i);
    for (guint j = 0; j < part->axes->len; j++) {
      Axis *axis = g_ptr_array_index(part->axes, j);
      if (axis->kind == kind && g_hash_table_add(seen, axis->name))
        g_ptr_array_add(columns, axis);
    }
  }
}

static GPtrArray *axis_columns(const Plan *plan) {
  GPtrArray *columns = g_ptr_array_new();
  list_columns(plan, AXIS_SETTING, columns);
  list_columns(plan, AXIS_PARAM, columns);
  return columns;
}

char *row_header(const Plan *plan) {
  GString *out = g_string_new(NULL);
  g_autoptr(GPtrArray) columns = axis_columns(plan);
  csv_field_header(out, subject_columns);
  for (guint i = 0; i < columns->len; i++) {
    g_autofree char *name = column_name(g_ptr_array_index(columns, i));
    csv_field(out, name);
  }
  csv_field_header(out, result_columns);
  for (guint i = 0; i < plan->numbers->len; i++)
    csv_field(out, g_ptr_array_index(plan->numbers, i));
  csv_field_header(out, last_columns);
  return g_string_free(out, FALSE);
}

/* The value of an axis at a point; NULL if its part hasn't the axis. */
static const char *value_at(const PlanPoint *point, const Axis *column) {
  for (guint i = 0; i < point->part->axes->len; i++) {
    const Axis *axis = g_ptr_array_index(point->part->axes, i);
    if (axis->kind == column->kind && strcmp(axis->name, column->name) == 0)
      return point->axis_value[i];
  }
  return NULL;
}

static void append_line(GString *out, const char *text) {
  g_autofree char *line = g_strdelimit(g_strdup(text ? text : ""), "\r\n", ' ');
  csv_field(out, line);
}

static void append_times(GString *out, const RunResult *result) {
  uint64_t measured = run_result_measured_cycles(result);
  double seconds = (double)measured / result->clock_hz;
  csv_field_format(out, "%" G_GUINT64_FORMAT, result->cycles);
  csv_field_format(out, "%" G_GUINT64_FORMAT, measured);
  csv_field_format(out, "%.6f", seconds * 1e6);
  if (result->has_operations)
    csv_field_format(out, "%" G_GINT64_FORMAT, result->operations);
  else
    csv_field(out, "");
  if (result->has_operations && result->verdict == VERDICT_COMPLETED && seconds > 0)
    csv_field_format(out, "%.6g", (double)result->operations / seconds);
  else
    csv_field(out, "");
}

static void append_result(GString *out, const RunResult *result) {
  g_autofree char *ids = csv_field_finding_ids(result->findings);
  csv_field(out, verdict_name(result->verdict));
  csv_field_format(out, "%d", run_result_exit_status(result));
  append_times(out, result);
  csv_field(out, ids);
  csv_field(out, stop_name(result->stop));
}

static void append_counters(GString *out, const Plan *plan, const RunResult *result) {
  for (guint i = 0; i < plan->numbers->len; i++) {
    const char *name = g_ptr_array_index(plan->numbers, i);
    unsigned counter = 0;
    while (strcmp(counter_info[counter].name, name) != 0)
      counter++;
    csv_field_format(out, "%" G_GUINT64_FORMAT, counter_value(&result->counters, counter));
  }
}

/* In place of a result. */
static void append_nothing(GString *out, const Plan *plan) {
  for (guint i = 2; i < G_N_ELEMENTS(result_columns) + plan->numbers->len; i++)
    csv_field(out, "");
}

char *row_text(const Plan *plan, const PlanPoint *point, const char *scenario, const char *machine,
               const RunResult *result, const char *error, const char *key) {
  GString *out = g_string_new(NULL);
  g_autoptr(GPtrArray) columns = axis_columns(plan);
  append_line(out, scenario);
  append_line(out, machine);
  for (guint i = 0; i < columns->len; i++)
    append_line(out, value_at(point, g_ptr_array_index(columns, i)));
  csv_field_format(out, "%" G_GUINT64_FORMAT, point->seed);
  if (result) {
    append_result(out, result);
    append_counters(out, plan, result);
  } else {
    append_nothing(out, plan);
  }
  append_line(out, error);
  csv_field(out, key);
  return g_string_free(out, FALSE);
}

const char *row_key(const char *row) {
  const char *comma = strrchr(row, ',');
  return comma ? comma + 1 : row;
}

bool row_is_error(const char *row) { return row_key(row) - row > 1 && row_key(row)[-2] != ','; }
