#include "sim/study/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/datadir.h"
#include "sim/study/twice.h"

enum { SUITE_BYTES_MAX = 4 << 20, REQUIRED_COLUMNS = 8, SEEDS_MAX = 1000000 };
#define SUITE_FOLDER "validation/published"

static const char *const columns[] = {"row",    "scenario", "machine", "group",     "metric",    "published",
                                      "unit",   "source",   "page",    "baseline",  "tolerance", "note",
                                      "params", "set",      "seeds",   "statement", NULL};
#define X(enumerator, spelling) spelling,
static const char *const metrics[] = {METRICS(X) NULL};
#undef X
static const char *const groups[] = {"fitted", "test", NULL};

const char *metric_name(Metric metric) { return metrics[metric]; }
const char *validation_group_name(ValidationGroup group) { return groups[group]; }

bool metric_is_ratio(Metric metric) {
  return metric == METRIC_SPEEDUP || metric == METRIC_TIME_RATIO || metric == METRIC_RATE_RATIO ||
         metric == METRIC_TRANSFER_RATIO || metric == METRIC_L2_RATIO || metric == METRIC_L2_LINE_RATIO ||
         metric == METRIC_DRAM_RATIO;
}
bool metric_compares_rates(Metric metric) { return metric == METRIC_RATE_RATIO || metric == METRIC_FASTER; }
bool metric_needs_operations(Metric metric) { return metric_compares_rates(metric) || metric == METRIC_ATOMICS; }
static bool metric_is_time(Metric metric) {
  return metric == METRIC_CYCLES || metric == METRIC_MICROSECONDS || metric == METRIC_MILLISECONDS;
}
bool metric_is_of_time(Metric metric) {
  return metric_is_time(metric) || metric == METRIC_SPEEDUP || metric == METRIC_TIME_RATIO ||
         metric_compares_rates(metric);
}
bool metric_is_sign(Metric metric) {
  return metric == METRIC_FASTER || metric == METRIC_LESS_L2 || metric == METRIC_LESS_DRAM;
}
bool metric_is_mean(Metric metric) { return metric == METRIC_MEAN_SPEEDUP || metric == METRIC_GEOMEAN_SPEEDUP; }
static bool has_baseline(Metric metric) { return metric_is_ratio(metric) || metric_is_sign(metric); }

static void free_row(gpointer data) {
  ValidationRow *row = data;
  g_free(row->row);
  g_free(row->scenario);
  g_free(row->machine);
  g_free(row->baseline);
  g_free(row->unit);
  g_free(row->source);
  g_free(row->page);
  g_free(row->note);
  g_free(row->statement);
  g_free(row->file);
  g_strfreev(row->params);
  g_strfreev(row->changes);
  g_free(row);
}

void validation_free(Validation *validation) {
  if (!validation)
    return;
  g_free(validation->suite);
  g_ptr_array_free(validation->rows, TRUE);
  g_array_free(validation->summaries, TRUE);
  g_free(validation);
}

/* --- the file --- */

static int compare_names(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static char *suite_name(const char *path) {
  char *name = g_path_get_basename(path);
  if (g_str_has_suffix(name, ".csv"))
    name[strlen(name) - strlen(".csv")] = '\0';
  return name;
}

char **suite_list(void) {
  g_autofree char *folder = datadir_join(SUITE_FOLDER, NULL);
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  GPtrArray *names = g_ptr_array_new();
  for (const char *name = dir ? g_dir_read_name(dir) : NULL; name; name = g_dir_read_name(dir))
    if (g_str_has_suffix(name, ".csv"))
      g_ptr_array_add(names, suite_name(name));
  g_ptr_array_sort(names, compare_names);
  g_ptr_array_add(names, NULL);
  return (char **)g_ptr_array_free(names, FALSE);
}

static bool take_number_of(const CsvTable *table, const CsvRow *row, const char *column, const char *text,
                           double *value, Diag *diag) {
  char *end;
  *value = g_ascii_strtod(text, &end);
  if (*text && !*end && isfinite(*value))
    return true;
  return diag_error(diag, table->file, row->line, 0, "%s: `%s` isn't a number", column, text);
}

static bool take_number(const CsvTable *table, const CsvRow *row, const char *column, double *value, Diag *diag) {
  return take_number_of(table, row, column, csv_table_field(table, row, column), value, diag);
}

/* A number, or a bound: <0.05, >70. */
static bool take_published(const CsvTable *table, const CsvRow *source, ValidationRow *row, Diag *diag) {
  const char *text = csv_table_field(table, source, "published");
  row->bound = *text == '<' ? BOUND_BELOW : *text == '>' ? BOUND_ABOVE : BOUND_NONE;
  return take_number_of(table, source, "published", text + (row->bound != BOUND_NONE), &row->printed, diag);
}

/* A number of seeds, or nothing: 0. */
static bool take_seeds(const CsvTable *table, const CsvRow *row, unsigned *seeds, Diag *diag) {
  double value;
  *seeds = 0;
  if (!*csv_table_field(table, row, "seeds"))
    return true;
  if (!take_number(table, row, "seeds", &value, diag))
    return false;
  if (!(value >= 1 && value <= SEEDS_MAX && value == floor(value)))
    return diag_error(diag, table->file, row->line, 0, "seeds: %g isn't a whole number from 1 to %d", value,
                      SEEDS_MAX);
  *seeds = (unsigned)value;
  return true;
}

static bool take_word(const CsvTable *table, const CsvRow *row, const char *column, const char *const *words,
                      guint *value, Diag *diag) {
  const char *text = csv_table_field(table, row, column);
  for (*value = 0; words[*value]; (*value)++)
    if (strcmp(words[*value], text) == 0)
      return true;
  diag_error(diag, table->file, row->line, 0, "unknown %s `%s`", column, text);
  diag_hint_nearest(diag, text, words);
  return false;
}

/* "a=1 b=2", with any number of blanks, each name once. */
static bool take_settings(const CsvTable *table, const CsvRow *row, const char *column, char ***settings,
                          Diag *diag) {
  g_auto(GStrv) parts = g_strsplit(csv_table_field(table, row, column), " ", -1);
  g_autoptr(GStrvBuilder) all = g_strv_builder_new();
  for (char **part = parts; *part; part++)
    if (**part)
      g_strv_builder_add(all, *part);
  *settings = g_strv_builder_end(all);
  const char *first, *second = twice_find((const char *const *)*settings, &first);
  return !second ||
         diag_error(diag, table->file, row->line, 0, "%s: `%s` and `%s` are of one name", column, first, second);
}

static bool take_row(Validation *validation, const CsvTable *table, const CsvRow *source, Diag *diag) {
  ValidationRow *row = g_new0(ValidationRow, 1);
  g_ptr_array_add(validation->rows, row);
  row->row = g_strdup(csv_table_field(table, source, "row"));
  row->scenario = g_strdup(csv_table_field(table, source, "scenario"));
  row->machine = g_strdup(csv_table_field(table, source, "machine"));
  row->baseline = g_strdup(csv_table_field(table, source, "baseline"));
  row->unit = g_strdup(csv_table_field(table, source, "unit"));
  row->source = g_strdup(csv_table_field(table, source, "source"));
  row->page = g_strdup(csv_table_field(table, source, "page"));
  row->note = g_strdup(csv_table_field(table, source, "note"));
  row->statement = g_strdup(csv_table_field(table, source, "statement"));
  row->file = g_strdup(table->file);
  row->line = source->line;
  bool right = take_settings(table, source, "params", &row->params, diag);
  right = take_settings(table, source, "set", &row->changes, diag) && right;
  guint group, metric;
  if (!take_word(table, source, "group", groups, &group, diag) ||
      !take_word(table, source, "metric", metrics, &metric, diag) || !take_published(table, source, row, diag) ||
      !right)
    return false;
  row->group = group;
  row->metric = metric;
  if (!take_seeds(table, source, &row->most_seeds, diag))
    return false;
  row->has_tolerance = *csv_table_field(table, source, "tolerance") != '\0';
  if (row->has_tolerance && !take_number(table, source, "tolerance", &row->tolerance_percent, diag))
    return false;
  if (row->tolerance_percent < 0)
    return diag_error(diag, table->file, source->line, 0, "tolerance: %g is below 0, expected percent",
                      row->tolerance_percent);
  if (metric_is_time(row->metric) && strcmp(row->unit, metric_name(row->metric)) != 0)
    return diag_error(diag, table->file, source->line, 0,
                      "expected the unit `%s`, which the metric is in, found `%s`", metric_name(row->metric),
                      row->unit);
  row->is_baseline = metric_is_ratio(row->metric) && strcmp(row->row, row->baseline) == 0;
  return true;
}

const ValidationRow *suite_baseline(const Validation *validation, const ValidationRow *row) {
  if (!has_baseline(row->metric))
    return NULL;
  for (guint i = 0; i < validation->rows->len; i++) {
    const ValidationRow *other = g_ptr_array_index(validation->rows, i);
    bool fits = other->metric == row->metric || (metric_is_sign(row->metric) && !metric_is_mean(other->metric));
    if (fits && strcmp(other->row, row->baseline) == 0)
      return other;
  }
  return NULL;
}

bool suite_is_in_mean(const ValidationRow *mean, const ValidationRow *row) {
  return (row->metric == METRIC_SPEEDUP || row->metric == METRIC_FASTER) && row->group == mean->group &&
         !row->is_baseline;
}

/* A mean has nothing to run, and rows to be the mean of. */
static bool check_mean(const Validation *validation, guint at, const CsvTable *table, Diag *diag) {
  const ValidationRow *row = g_ptr_array_index(validation->rows, at);
  const CsvRow *source = g_ptr_array_index(table->rows, at);
  if (*row->scenario || *row->machine || *row->params || *row->changes || *row->baseline)
    return diag_error(diag, table->file, source->line, 0,
                      "metric `%s` is a mean of other rows, so it has no scenario, machine, params, set or baseline",
                      metric_name(row->metric));
  for (guint i = 0; i < at; i++)
    if (suite_is_in_mean(row, g_ptr_array_index(validation->rows, i)))
      return true;
  return diag_error(diag, table->file, source->line, 0, "metric `%s`: no row above it is a `speedup` or `faster`",
                    metric_name(row->metric));
}

/* A name that two rows of one metric have could mean either as a baseline. */
static bool check_names(const Validation *validation, const CsvTable *table, Diag *diag) {
  bool right = true;
  for (guint i = 0; i < validation->rows->len; i++)
    for (guint j = 0; j < i; j++) {
      const ValidationRow *a = g_ptr_array_index(validation->rows, j), *b = g_ptr_array_index(validation->rows, i);
      const CsvRow *first = g_ptr_array_index(table->rows, j), *second = g_ptr_array_index(table->rows, i);
      if (a->metric == b->metric && strcmp(a->row, b->row) == 0)
        right =
            diag_error(diag, table->file, second->line, 0, "a row `%s` with metric `%s` stands in line %u already",
                       b->row, metric_name(b->metric), first->line);
    }
  return right;
}

static bool resolve_baselines(Validation *validation, const CsvTable *table, Diag *diag) {
  for (guint i = 0; i < validation->rows->len; i++) {
    ValidationRow *row = g_ptr_array_index(validation->rows, i);
    const CsvRow *source = g_ptr_array_index(table->rows, i);
    row->published = row->printed;
    if (metric_is_mean(row->metric) && !check_mean(validation, i, table, diag))
      return false;
    if (!has_baseline(row->metric))
      continue;
    const ValidationRow *baseline = suite_baseline(validation, row);
    if (!baseline && !*row->baseline)
      return diag_error(diag, table->file, source->line, 0, "metric `%s` needs a row in column `baseline`",
                        metric_name(row->metric));
    if (!baseline)
      return diag_error(diag, table->file, source->line, 0, "no row `%s` with this metric to serve as baseline",
                        row->baseline);
    if (metric_compares_rates(row->metric) && strcmp(row->machine, baseline->machine) != 0)
      return diag_error(diag, table->file, source->line, 0, "rates of two machines, %s and %s, aren't compared",
                        row->machine, baseline->machine);
    if (!metric_is_ratio(row->metric))
      continue;
    if (baseline->printed == 0)
      return diag_error(diag, table->file, source->line, 0, "the baseline's published value is 0");
    row->published = row->printed / baseline->printed;
  }
  return true;
}

char *suite_path(const char *suite, Diag *diag) {
  if (strchr(suite, '/') || g_str_has_suffix(suite, ".csv"))
    return datadir_resolve(suite);
  g_auto(GStrv) names = suite_list();
  if (!g_strv_contains((const char *const *)names, suite)) {
    diag_usage(diag, "there is no suite `%s`", suite);
    diag_hint_nearest(diag, suite, (const char *const *)names);
    diag_hint(diag, "a suite of your own is a CSV file, as doc/validation.md says");
    return NULL;
  }
  g_autofree char *name = g_strconcat(suite, ".csv", NULL);
  return datadir_join(SUITE_FOLDER, name);
}

CsvTable *suite_table(const char *suite, Diag *diag) {
  g_autofree char *path = suite_path(suite, diag);
  return path ? csv_table_read(path, SUITE_BYTES_MAX, columns, REQUIRED_COLUMNS, diag) : NULL;
}

static bool load(Validation *validation, const CsvTable *table, Diag *diag) {
  bool right = true;
  if (table->rows->len == 0)
    return diag_error(diag, table->file, 0, 0, "has no rows");
  for (guint i = 0; i < table->rows->len; i++)
    right = take_row(validation, table, g_ptr_array_index(table->rows, i), diag) && right;
  return right && check_names(validation, table, diag) && resolve_baselines(validation, table, diag);
}

Validation *suite_read(const char *suite, Diag *diag) {
  g_autoptr(CsvTable) table = suite_table(suite, diag);
  if (!table)
    return NULL;
  g_autoptr(Validation) validation = g_new0(Validation, 1);
  validation->suite = suite_name(table->file);
  validation->rows = g_ptr_array_new_with_free_func(free_row);
  validation->summaries = g_array_new(FALSE, FALSE, sizeof(ValidationSummary));
  return load(validation, table, diag) ? g_steal_pointer(&validation) : NULL;
}
