#include "sim/report/plot/columns.h"

#include <math.h>
#include <string.h>

bool columns_has(const CsvTable *table, const char *name) {
  return g_strv_contains((const char *const *)table->columns, name);
}

bool columns_check(const CsvTable *table, const char *name, const char *option, Diag *diag) {
  if (columns_has(table, name))
    return true;
  diag_usage(diag, "%s: %s has no column `%s`", option, table->file, name);
  diag_hint_nearest(diag, name, (const char *const *)table->columns);
  return false;
}

static bool keep(CsvTable *table, const char *condition, Diag *diag) {
  const char *equals = strchr(condition, '=');
  if (!equals)
    return diag_usage(diag, "--where %s: expected COLUMN=VALUE", condition);
  g_autofree char *name = g_strndup(condition, (gsize)(equals - condition));
  if (!columns_check(table, name, "--where", diag))
    return false;
  g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func(g_free); /* of rows that go */
  for (guint i = table->rows->len; i > 0; i--) {
    const char *value = csv_table_field(table, g_ptr_array_index(table->rows, i - 1), name);
    if (strcmp(value, equals + 1) == 0)
      continue;
    g_ptr_array_add(values, g_strdup(value));
    g_ptr_array_remove_index(table->rows, i - 1);
  }
  if (table->rows->len)
    return true;
  g_ptr_array_add(values, NULL);
  diag_usage(diag, "--where %s: no row is left", condition);
  diag_hint_nearest(diag, equals + 1, (const char *const *)values->pdata);
  return false;
}

bool columns_keep(CsvTable *table, char **where, Diag *diag) {
  for (; where && *where; where++)
    if (!keep(table, *where, diag))
      return false;
  return true;
}

guint columns_count(const CsvTable *table, const char *name) {
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < table->rows->len; i++)
    g_hash_table_add(seen, (char *)csv_table_field(table, g_ptr_array_index(table->rows, i), name));
  return g_hash_table_size(seen);
}

bool columns_number(const CsvTable *table, const CsvRow *row, const char *name, double *value) {
  const char *text = csv_table_field(table, row, name);
  char *end;
  *value = g_ascii_strtod(text, &end);
  return *text && !*end && isfinite(*value);
}

bool columns_is_filled(const CsvTable *table, const char *name) {
  for (guint i = 0; i < table->rows->len; i++)
    if (*csv_table_field(table, g_ptr_array_index(table->rows, i), name))
      return true;
  return false;
}

bool columns_check_numbers(const CsvTable *table, const char *name, Diag *diag) {
  const CsvRow *other = NULL;
  guint numbers = 0;
  for (guint i = 0; i < table->rows->len; i++) {
    const CsvRow *row = g_ptr_array_index(table->rows, i);
    double value;
    if (columns_number(table, row, name, &value))
      numbers++;
    else if (*csv_table_field(table, row, name) && !other)
      other = row;
  }
  if (numbers == 0)
    return diag_usage(diag, "%s: column `%s` has no numbers", table->file, name);
  return !other || diag_error(diag, table->file, other->line, 0, "expected a number in column `%s`, found `%s`", name,
                              csv_table_field(table, other, name));
}

GPtrArray *columns_varying(const CsvTable *table) {
  static const char *const results[] = {"rank", "operations_per_second", "problem", NULL}; /* of a ranking */
  GPtrArray *varying = g_ptr_array_new();
  for (char **column = table->columns; *column && strcmp(*column, "seed") != 0; column++)
    if (columns_count(table, *column) > 1 && !g_strv_contains(results, *column))
      g_ptr_array_add(varying, *column);
  return varying;
}
