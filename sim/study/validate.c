#include "sim/study/validate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/datadir.h"
#include "sim/study/correlation.h"
#include "sim/study/csv_table.h"

enum { SUITE_BYTES_MAX = 4 << 20, REQUIRED_COLUMNS = 8, SEEDS_MAX = 1000000 };
#define SUITE_FOLDER "validation/published"

static const char *const columns[] = {"row",       "scenario", "machine", "group", "metric",
                                      "published", "unit",     "source",  "page",  "baseline",
                                      "tolerance", "note",     "params",  "seeds", NULL};
#define X(enumerator, spelling) spelling,
static const char *const metrics[] = {METRICS(X) NULL};
#undef X
static const char *const groups[] = {"fitted", "test", NULL};

const char *metric_name(Metric metric) { return metrics[metric]; }
const char *validation_group_name(ValidationGroup group) { return groups[group]; }

static bool is_ratio(Metric metric) {
  return metric == METRIC_SPEEDUP || metric == METRIC_TIME_RATIO || metric == METRIC_RATE_RATIO ||
         metric == METRIC_TRANSFER_RATIO || metric == METRIC_L2_RATIO || metric == METRIC_DRAM_RATIO;
}
static bool has_baseline(Metric metric) { return is_ratio(metric) || metric == METRIC_FASTER; }
static bool compares_rates(Metric metric) { return metric == METRIC_RATE_RATIO || metric == METRIC_FASTER; }

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
  g_strfreev(row->params);
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

char **validate_list(void) {
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

static bool take_number(const CsvTable *table, const CsvRow *row, const char *column, double *value, Diag *diag) {
  const char *text = csv_table_field(table, row, column);
  char *end;
  *value = g_ascii_strtod(text, &end);
  if (*text && !*end && isfinite(*value))
    return true;
  return diag_error(diag, table->file, row->line, 0, "%s: `%s` isn't a number", column, text);
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

/* "a=1 b=2", with any number of blanks. */
static char **take_params(const char *text) {
  g_auto(GStrv) parts = g_strsplit(text, " ", -1);
  g_autoptr(GStrvBuilder) params = g_strv_builder_new();
  for (char **part = parts; *part; part++)
    if (**part)
      g_strv_builder_add(params, *part);
  return g_strv_builder_end(params);
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
  row->params = take_params(csv_table_field(table, source, "params"));
  guint group, metric;
  if (!take_word(table, source, "group", groups, &group, diag) ||
      !take_word(table, source, "metric", metrics, &metric, diag) ||
      !take_number(table, source, "published", &row->printed, diag))
    return false;
  row->group = group;
  row->metric = metric;
  if (!take_seeds(table, source, &row->most_seeds, diag))
    return false;
  row->has_tolerance = *csv_table_field(table, source, "tolerance") != '\0';
  if (row->has_tolerance && !take_number(table, source, "tolerance", &row->tolerance_percent, diag))
    return false;
  row->is_baseline = is_ratio(row->metric) && strcmp(row->row, row->baseline) == 0;
  return true;
}

/* The row that `row` refers to as its baseline, among those of the same metric, or of any that `faster` sets it
 * beside; NULL if there is none. */
static const ValidationRow *find_baseline(const Validation *validation, const ValidationRow *row) {
  for (guint i = 0; i < validation->rows->len; i++) {
    const ValidationRow *other = g_ptr_array_index(validation->rows, i);
    if ((other->metric == row->metric || row->metric == METRIC_FASTER) && strcmp(other->row, row->baseline) == 0)
      return other;
  }
  return NULL;
}

static bool resolve_baselines(Validation *validation, const CsvTable *table, Diag *diag) {
  for (guint i = 0; i < validation->rows->len; i++) {
    ValidationRow *row = g_ptr_array_index(validation->rows, i);
    const CsvRow *source = g_ptr_array_index(table->rows, i);
    row->published = row->printed;
    if (!has_baseline(row->metric))
      continue;
    const ValidationRow *baseline = find_baseline(validation, row);
    if (!baseline)
      return diag_error(diag, table->file, source->line, 0, "no row `%s` with this metric to serve as baseline",
                        row->baseline);
    if (compares_rates(row->metric) && strcmp(row->machine, baseline->machine) != 0)
      return diag_error(diag, table->file, source->line, 0, "rates of two machines, %s and %s, aren't compared",
                        row->machine, baseline->machine);
    if (!is_ratio(row->metric))
      continue;
    if (baseline->printed == 0)
      return diag_error(diag, table->file, source->line, 0, "the baseline's published value is 0");
    row->published = row->printed / baseline->printed;
  }
  return true;
}

/* The suite's file; NULL, with a message, if it has no such name. */
static char *find_suite(const char *suite, Diag *diag) {
  if (strchr(suite, '/') || g_str_has_suffix(suite, ".csv"))
    return datadir_resolve(suite);
  g_auto(GStrv) names = validate_list();
  if (!g_strv_contains((const char *const *)names, suite)) {
    diag_usage(diag, "there is no suite `%s`", suite);
    diag_hint_nearest(diag, suite, (const char *const *)names);
    return NULL;
  }
  g_autofree char *name = g_strconcat(suite, ".csv", NULL);
  return datadir_join(SUITE_FOLDER, name);
}

static bool load(Validation *validation, const char *path, Diag *diag) {
  gsize length;
  g_autofree char *text = datadir_read_file(path, SUITE_BYTES_MAX, &length, NULL, 0, 0, diag);
  g_autoptr(CsvTable) table = text ? csv_table_parse(path, text, columns, REQUIRED_COLUMNS, diag) : NULL;
  if (!table)
    return false;
  bool right = true;
  for (guint i = 0; i < table->rows->len; i++)
    right = take_row(validation, table, g_ptr_array_index(table->rows, i), diag) && right;
  return right && resolve_baselines(validation, table, diag);
}

/* --- the runs --- */

/* Samples taken so far, by scenario, machine and params: several rows may look at the same runs. */
typedef struct Samples {
  GHashTable *rows; /* "scenario\nmachine\nparams" -> RankRow * */
  const ValidateOptions *options;
  Diag *diag;
  bool locks; /* some row looks at locks: all runs do */
} Samples;

static void free_sample(gpointer row) { rank_row_free(row); }

GHashTable *validate_samples_new(void) { return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_sample); }

/* The scenarios of a suite lie in the data folder, whatever lies below the current one. */
static char *find_scenario(const char *file) {
  char *path = datadir_join(file, NULL);
  if (g_file_test(path, G_FILE_TEST_EXISTS))
    return path;
  g_free(path);
  return g_strdup(file);
}

static bool looks_at_locks(Metric metric) { return metric >= METRIC_TRANSFER && metric <= METRIC_TRANSFER_L2; }

static bool take_sample(const Samples *samples, const ValidationRow *wanted, const char *machine_name, RankRow *row) {
  g_autofree char *path = find_scenario(wanted->scenario);
  ScenarioOptions options = {.params = (const char *const *)wanted->params};
  g_autoptr(Scenario) scenario = scenario_load(path, &options, samples->diag);
  g_autoptr(Machine) machine = machine_load(machine_name, samples->options->overrides, samples->diag);
  unsigned seeds = samples->options->seeds;
  if (wanted->most_seeds)
    seeds = MIN(seeds, wanted->most_seeds);
  RunOptions run = samples->options->run;
  run.locks = samples->locks;
  return scenario && machine && sample_scenario(scenario, machine, &run, seeds, row, samples->diag);
}

static const RankRow *find_sample(const Samples *samples, const ValidationRow *row) {
  const char *machine = samples->options->machine ? samples->options->machine : row->machine;
  g_autofree char *params = g_strjoinv(" ", row->params);
  const char *locks = samples->locks ? "\nlocks" : "";
  g_autofree char *key = g_strconcat(row->scenario, "\n", machine, "\n", params, locks, NULL);
  RankRow *sample = g_hash_table_lookup(samples->rows, key);
  if (sample)
    return sample;
  sample = g_new0(RankRow, 1);
  if (!take_sample(samples, row, machine, sample)) {
    rank_row_free(sample);
    return NULL;
  }
  g_hash_table_insert(samples->rows, g_steal_pointer(&key), sample);
  return sample;
}

/* Operations for each cycle. */
static double rate(const RankRow *sample) { return (double)sample->operations / sample->cycles.mean; }

/* Relative spread of a quotient of two means. */
static double quotient_deviation(const Sample *a, const Sample *b) {
  return a == b || a->mean == 0 || b->mean == 0 ? 0 : hypot(a->deviation / a->mean, b->deviation / b->mean);
}

/* What a metric looks at. */
static const Sample *sample_of(const RankRow *row, Metric metric) {
  switch (metric) {
  case METRIC_TRANSFER: return &row->transfer[TRANSFER_FROM_FENCE];
  case METRIC_TRANSFER_UNLOCK: return &row->transfer[TRANSFER_FROM_UNLOCK];
  case METRIC_TRANSFER_PORT: return &row->transfer[TRANSFER_FROM_PORT];
  case METRIC_TRANSFER_L2: return &row->transfer[TRANSFER_AT_L2];
  case METRIC_TRANSFER_MEASURED:
  case METRIC_TRANSFER_RATIO: return &row->measured_transfer;
  case METRIC_L2_RATIO: return &row->l2_sectors;
  case METRIC_DRAM_RATIO: return &row->dram_bytes;
  default: return &row->cycles;
  }
}

static void set_prediction(ValidationRow *row, const RankRow *sample, const RankRow *baseline) {
  const Sample *own = sample_of(sample, row->metric), *base = baseline ? sample_of(baseline, row->metric) : NULL;
  switch (row->metric) {
  case METRIC_SHARED_BYTES: row->predicted = (double)sample->shared_bytes; break;
  case METRIC_LOCK_BITS: row->predicted = (double)sample->lock_bits; break;
  case METRIC_SPEEDUP: row->predicted = base->mean / own->mean; break;
  case METRIC_TIME_RATIO:
  case METRIC_TRANSFER_RATIO:
  case METRIC_L2_RATIO:
  case METRIC_DRAM_RATIO: row->predicted = base->mean > 0 ? own->mean / base->mean : 0; break;
  case METRIC_RATE_RATIO: row->predicted = rate(sample) / rate(baseline); break;
  case METRIC_FASTER: row->predicted = rate(sample) > rate(baseline); break;
  default:
    row->predicted = own->mean;
    row->deviation = own->deviation;
    break;
  }
  if (base && is_ratio(row->metric))
    row->deviation = row->predicted * quotient_deviation(own, base);
}

static void judge(ValidationRow *row) {
  row->has_error = row->published != 0;
  if (row->has_error)
    row->error_percent = (row->predicted - row->published) / fabs(row->published) * 100;
  if (!row->has_tolerance || row->is_baseline)
    row->judgement = JUDGED_NOT;
  else if (!row->has_error)
    row->judgement = row->predicted == row->published ? JUDGED_WITHIN : JUDGED_OUTSIDE;
  else
    row->judgement = fabs(row->error_percent) <= row->tolerance_percent ? JUDGED_WITHIN : JUDGED_OUTSIDE;
}

static bool predict(Validation *validation, ValidationRow *row, const Samples *samples) {
  const RankRow *sample = find_sample(samples, row);
  const ValidationRow *baseline_row = has_baseline(row->metric) ? find_baseline(validation, row) : NULL;
  const RankRow *baseline = baseline_row ? find_sample(samples, baseline_row) : NULL;
  if (!sample || (baseline_row && !baseline))
    return false;
  if (compares_rates(row->metric) && (!sample->has_operations || !baseline->has_operations))
    return diag_error(samples->diag, NULL, 0, 0,
                      "row `%s`: its scenario, or the baseline's, doesn't say how many operations it does", row->row);
  row->verdict = sample->verdict;
  row->as_expected = sample->as_expected;
  set_prediction(row, sample, baseline);
  if (row->metric == METRIC_MICROSECONDS || row->metric == METRIC_MILLISECONDS) {
    const char *name = samples->options->machine ? samples->options->machine : row->machine;
    g_autoptr(Machine) machine = machine_load(name, samples->options->overrides, samples->diag);
    double cycle = (row->metric == METRIC_MILLISECONDS ? 1e3 : 1e6) / machine->clocks.sm;
    row->predicted *= cycle;
    row->deviation *= cycle;
  }
  judge(row);
  return true;
}

/* --- the summary --- */

static void summarize(Validation *validation, ValidationGroup group, Metric metric) {
  ValidationSummary summary = {.group = group, .metric = metric};
  g_autofree double *published = g_new(double, validation->rows->len),
                    *predicted = g_new(double, validation->rows->len);
  double total = 0;
  for (guint i = 0; i < validation->rows->len; i++) {
    const ValidationRow *row = g_ptr_array_index(validation->rows, i);
    if (row->group != group || row->metric != metric)
      continue;
    published[summary.rows] = row->published;
    predicted[summary.rows++] = row->predicted;
    if (row->is_baseline || !row->has_error)
      continue;
    summary.errors++;
    total += fabs(row->error_percent);
  }
  if (summary.rows == 0)
    return;
  summary.mean_error_percent = summary.errors ? total / summary.errors : 0;
  summary.has_correlation =
      summary.rows >= 3 && correlation_of_ranks(published, predicted, summary.rows, &summary.correlation);
  g_array_append_val(validation->summaries, summary);
}

/* --- the whole --- */

Validation *validate_suite(const char *suite, const ValidateOptions *options, Diag *diag) {
  g_autofree char *path = find_suite(suite, diag);
  if (!path)
    return NULL;
  g_autoptr(Validation) validation = g_new0(Validation, 1);
  validation->suite = suite_name(path);
  validation->seeds = options->seeds;
  validation->rows = g_ptr_array_new_with_free_func(free_row);
  validation->summaries = g_array_new(FALSE, FALSE, sizeof(ValidationSummary));
  if (!load(validation, path, diag))
    return NULL;
  Samples samples = {options->samples, options, diag, .locks = false};
  for (guint i = 0; i < validation->rows->len; i++)
    samples.locks |= looks_at_locks(((const ValidationRow *)g_ptr_array_index(validation->rows, i))->metric);
  for (guint i = 0; i < validation->rows->len; i++) {
    if (!predict(validation, g_ptr_array_index(validation->rows, i), &samples))
      return NULL;
    if (stop_asked(options->run.stop)) { /* the others, and perhaps this one, weren't measured */
      g_ptr_array_set_size(validation->rows, (gint)i);
      validation->cut_short = true;
    }
  }
  for (ValidationGroup group = 0; group < GROUP_COUNT; group++)
    for (Metric metric = 0; metric < METRIC_COUNT; metric++)
      summarize(validation, group, metric);
  return g_steal_pointer(&validation);
}

char *validation_judgement_text(const ValidationRow *row) {
  bool counted =
      row->metric == METRIC_SHARED_BYTES || row->metric == METRIC_LOCK_BITS || row->metric == METRIC_FASTER;
  if (row->is_baseline)
    return g_strdup("baseline");
  if (row->judgement == JUDGED_NOT)
    return g_strdup(!counted ? "" : row->predicted == row->published ? "equal" : "differs");
  bool within = row->judgement == JUDGED_WITHIN;
  if (row->tolerance_percent == 0)
    return g_strdup(within ? "equal" : "differs");
  return g_strdup_printf("%s %g %%", within ? "within" : "outside", row->tolerance_percent);
}

int validation_exit_status(const Validation *validation) {
  for (guint i = 0; i < validation->rows->len; i++) {
    const ValidationRow *row = g_ptr_array_index(validation->rows, i);
    if (row->judgement == JUDGED_OUTSIDE || !row->as_expected)
      return 1;
  }
  return 0;
}
