#include "sim/study/validate.h"

#include <math.h>
#include <string.h>

#include "base/datadir.h"
#include "sim/study/correlation.h"

/* A scenario with its params on a machine over so many seeds: what several rows may look at. */
typedef struct Subject {
  bool locks;            /* some row looks at locks */
  Measurement *measured; /* NULL: not yet */
} Subject;

struct ValidateRuns {
  const ValidateOptions *options;
  GHashTable *subjects; /* subject_key() -> Subject * */
};

static void free_subject(gpointer data) {
  Subject *subject = data;
  measurement_free(subject->measured);
  g_free(subject);
}

ValidateRuns *validate_runs_new(const ValidateOptions *options) {
  ValidateRuns *runs = g_new0(ValidateRuns, 1);
  runs->options = options;
  runs->subjects = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_subject);
  return runs;
}

void validate_runs_free(ValidateRuns *runs) {
  if (!runs)
    return;
  g_hash_table_unref(runs->subjects);
  g_free(runs);
}

/* --- the runs --- */

static const char *machine_of(const ValidateRuns *runs, const ValidationRow *row) {
  return runs->options->machine ? runs->options->machine : row->machine;
}

/* The row's machine with its changes, and behind these the options'. NULL: an error was told. */
static Machine *load_machine(const ValidateRuns *runs, const ValidationRow *row, Diag *diag) {
  g_autoptr(GStrvBuilder) changes = g_strv_builder_new();
  g_strv_builder_addv(changes, (const char **)row->changes);
  for (const char *const *change = runs->options->overrides; change && *change; change++)
    g_strv_builder_add(changes, *change);
  g_auto(GStrv) all = g_strv_builder_end(changes);
  return machine_load(machine_of(runs, row), (const char *const *)all, diag);
}

static unsigned seeds_of(const ValidateRuns *runs, const ValidationRow *row) {
  return row->most_seeds ? MIN(runs->options->seeds, row->most_seeds) : runs->options->seeds;
}

static char *subject_key(const ValidateRuns *runs, const ValidationRow *row) {
  g_autofree char *params = g_strjoinv(" ", row->params), *changes = g_strjoinv(" ", row->changes);
  return g_strdup_printf("%s\n%s\n%s\n%s\n%u", row->scenario, machine_of(runs, row), params, changes,
                         seeds_of(runs, row));
}

static Subject *find_subject(const ValidateRuns *runs, const ValidationRow *row) {
  g_autofree char *key = subject_key(runs, row);
  return g_hash_table_lookup(runs->subjects, key);
}

static bool looks_at_locks(Metric metric) { return metric >= METRIC_TRANSFER && metric <= METRIC_TRANSFER_L2; }

void validate_runs_want(ValidateRuns *runs, const Validation *validation) {
  for (guint i = 0; i < validation->rows->len; i++) {
    const ValidationRow *row = g_ptr_array_index(validation->rows, i);
    if (metric_is_mean(row->metric))
      continue;
    Subject *subject = find_subject(runs, row);
    if (!subject) {
      subject = g_new0(Subject, 1);
      g_hash_table_insert(runs->subjects, subject_key(runs, row), subject);
    }
    subject->locks |= looks_at_locks(row->metric);
  }
}

/* The scenarios of a suite lie in the data folder, whatever lies below the current one. */
static char *find_scenario(const char *file) {
  char *path = datadir_join(file, NULL);
  if (g_file_test(path, G_FILE_TEST_EXISTS))
    return path;
  g_free(path);
  return g_strdup(file);
}

/* What is measured for a suite: the subjects that no other suite had, in the order of its rows. */
typedef struct Batch {
  GPtrArray *subjects;             /* Subject * */
  GArray *tasks;                   /* SampleTask, in the same order */
  GPtrArray *scenarios, *machines; /* of the tasks */
} Batch;

static void free_scenario(gpointer scenario) { scenario_free(scenario); }
static void free_machine(gpointer machine) { machine_free(machine); }

static void batch_init(Batch *batch) {
  batch->subjects = g_ptr_array_new();
  batch->tasks = g_array_new(FALSE, FALSE, sizeof(SampleTask));
  batch->scenarios = g_ptr_array_new_with_free_func(free_scenario);
  batch->machines = g_ptr_array_new_with_free_func(free_machine);
}

static void batch_clear(Batch *batch) {
  g_array_unref(batch->tasks);
  g_ptr_array_unref(batch->subjects);
  g_ptr_array_unref(batch->scenarios);
  g_ptr_array_unref(batch->machines);
}

/* False if the scenario or the machine can't be loaded. */
static bool batch_add(Batch *batch, Subject *subject, const ValidateRuns *runs, const ValidationRow *row,
                      Diag *diag) {
  g_autofree char *path = find_scenario(row->scenario);
  ScenarioOptions options = {.params = (const char *const *)row->params};
  g_autoptr(Scenario) scenario = scenario_load(path, &options, diag);
  g_autoptr(Machine) machine = load_machine(runs, row, diag);
  if (!scenario || !machine) {
    diag_note(diag, row->file, row->line, 0, "the suite's row `%s` asks for it", row->row);
    return false;
  }
  SampleTask task = {.scenario = scenario, .machine = machine, .seeds = seeds_of(runs, row), .locks = subject->locks};
  g_ptr_array_add(batch->scenarios, g_steal_pointer(&scenario));
  g_ptr_array_add(batch->machines, g_steal_pointer(&machine));
  g_ptr_array_add(batch->subjects, subject);
  g_array_append_val(batch->tasks, task);
  return true;
}

/* Measures what the suite's rows look at and isn't there yet. False after errors. */
static bool measure(const ValidateRuns *runs, const Validation *validation, Diag *diag) {
  Batch batch;
  batch_init(&batch);
  bool good = true;
  for (guint i = 0; i < validation->rows->len && good; i++) {
    const ValidationRow *row = g_ptr_array_index(validation->rows, i);
    Subject *subject = metric_is_mean(row->metric) ? NULL : find_subject(runs, row);
    if (subject && !subject->measured && !g_ptr_array_find(batch.subjects, subject, NULL))
      good = batch_add(&batch, subject, runs, row, diag);
  }
  g_autoptr(GPtrArray) measured = good ? samples_take(batch.tasks, &runs->options->samples, diag) : NULL;
  for (guint i = 0; measured && i < measured->len; i++) {
    Subject *subject = g_ptr_array_index(batch.subjects, i);
    subject->measured = g_steal_pointer(&g_ptr_array_index(measured, i));
  }
  batch_clear(&batch);
  return measured != NULL;
}

/* --- a prediction --- */

/* Operations for each cycle. */
static double rate(const Measurement *sample) { return (double)sample->operations / sample->cycles.mean; }

/* Relative spread of a quotient of two means. */
static double quotient_deviation(const Sample *a, const Sample *b) {
  return a == b || a->mean == 0 || b->mean == 0 ? 0 : hypot(a->deviation / a->mean, b->deviation / b->mean);
}

/* What a metric looks at. */
static const Sample *sample_of(const Measurement *row, Metric metric) {
  switch (metric) {
  case METRIC_TRANSFER: return &row->transfer[TRANSFER_FROM_FENCE];
  case METRIC_TRANSFER_UNLOCK: return &row->transfer[TRANSFER_FROM_UNLOCK];
  case METRIC_TRANSFER_PORT: return &row->transfer[TRANSFER_FROM_PORT];
  case METRIC_TRANSFER_L2: return &row->transfer[TRANSFER_AT_L2];
  case METRIC_TRANSFER_MEASURED:
  case METRIC_TRANSFER_RATIO: return &row->measured_transfer;
  case METRIC_LESS_L2:
  case METRIC_L2_RATIO: return &row->l2_sectors;
  case METRIC_L2_LINE_RATIO: return &row->l2_lines;
  case METRIC_LESS_DRAM:
  case METRIC_DRAM_RATIO: return &row->dram_bytes;
  default: return &row->cycles;
  }
}

static void set_prediction(ValidationRow *row, const Measurement *sample, const Measurement *baseline) {
  const Sample *own = sample_of(sample, row->metric), *base = baseline ? sample_of(baseline, row->metric) : NULL;
  switch (row->metric) {
  case METRIC_SHARED_BYTES: row->predicted = (double)sample->shared_bytes; break;
  case METRIC_LOCK_BITS: row->predicted = (double)sample->lock_bits; break;
  case METRIC_RESIDENT_BLOCKS: row->predicted = sample->resident_blocks; break;
  case METRIC_ATOMICS:
    row->predicted = sample->atomics.mean / (double)sample->operations;
    row->deviation = sample->atomics.deviation / (double)sample->operations;
    break;
  case METRIC_SPEEDUP: row->predicted = base->mean / own->mean; break;
  case METRIC_TIME_RATIO:
  case METRIC_TRANSFER_RATIO:
  case METRIC_L2_RATIO:
  case METRIC_L2_LINE_RATIO:
  case METRIC_DRAM_RATIO: row->predicted = base->mean > 0 ? own->mean / base->mean : 0; break;
  case METRIC_RATE_RATIO: row->predicted = rate(sample) / rate(baseline); break;
  case METRIC_FASTER: row->predicted = rate(sample) > rate(baseline); break;
  case METRIC_LESS_L2:
  case METRIC_LESS_DRAM: row->predicted = own->mean < base->mean; break;
  default:
    row->predicted = own->mean;
    row->deviation = own->deviation;
    break;
  }
  if (base && metric_is_ratio(row->metric))
    row->deviation = row->predicted * quotient_deviation(own, base);
  if (row->metric == METRIC_SPEEDUP || row->metric == METRIC_FASTER) {
    row->speedup = row->metric == METRIC_SPEEDUP ? row->predicted : rate(sample) / rate(baseline);
    row->speedup_deviation = row->speedup * quotient_deviation(own, base);
  }
}

static bool keeps_bound(const ValidationRow *row) {
  return (row->bound == BOUND_BELOW && row->predicted < row->published) ||
         (row->bound == BOUND_ABOVE && row->predicted > row->published);
}

static void judge(ValidationRow *row) {
  row->has_error = row->published != 0 && !isnan(row->predicted);
  if (row->has_error)
    row->error_percent = keeps_bound(row) ? 0 : (row->predicted - row->published) / fabs(row->published) * 100;
  if (!row->has_tolerance || row->is_baseline)
    row->judgement = JUDGED_NOT;
  else if (!row->has_error)
    row->judgement = row->predicted == row->published ? JUDGED_WITHIN : JUDGED_OUTSIDE;
  else
    row->judgement = fabs(row->error_percent) <= row->tolerance_percent ? JUDGED_WITHIN : JUDGED_OUTSIDE;
}

/* Of the rows above the one at `at`, whose runs are all there. */
static void predict_mean(const Validation *validation, guint at) {
  ValidationRow *row = g_ptr_array_index(validation->rows, at);
  double sum = 0, product = 0, squares = 0, relative_squares = 0;
  unsigned count = 0;
  row->verdict = VERDICT_COMPLETED;
  row->as_expected = true;
  for (guint i = 0; i < at; i++) {
    const ValidationRow *other = g_ptr_array_index(validation->rows, i);
    if (!suite_is_in_mean(row, other))
      continue;
    count++;
    sum += other->speedup;
    product += log(other->speedup);
    squares += other->speedup_deviation * other->speedup_deviation;
    relative_squares += pow(other->speedup_deviation / other->speedup, 2);
    row->as_expected = row->as_expected && other->as_expected;
  }
  bool geometric = row->metric == METRIC_GEOMEAN_SPEEDUP;
  row->predicted = geometric ? exp(product / count) : sum / count;
  row->deviation = geometric ? row->predicted * sqrt(relative_squares) / count : sqrt(squares) / count;
  judge(row);
}

/* The time of a hang says when it was noticed, that of a run given up where its limit was. */
static bool lacks_time(const ValidationRow *row, const Measurement *sample, const Measurement *baseline) {
  return metric_is_of_time(row->metric) &&
         (sample->verdict != VERDICT_COMPLETED || (baseline && baseline->verdict != VERDICT_COMPLETED));
}

/* What was measured for a row; NULL if there is no row, or something stopped the runs before. */
static const Measurement *measured_of(const ValidateRuns *runs, const ValidationRow *row) {
  const Subject *subject = row ? find_subject(runs, row) : NULL;
  return subject && subject->measured && subject->measured->whole ? subject->measured : NULL;
}

/* `cut` is set if something stopped the runs that the row at `at` needs. False after errors. */
static bool predict(const Validation *validation, guint at, const ValidateRuns *runs, bool *cut, Diag *diag) {
  ValidationRow *row = g_ptr_array_index(validation->rows, at);
  if (metric_is_mean(row->metric)) {
    predict_mean(validation, at);
    return true;
  }
  const ValidationRow *baseline_row = suite_baseline(validation, row);
  const Measurement *sample = measured_of(runs, row), *baseline = measured_of(runs, baseline_row);
  *cut = !sample || (baseline_row && !baseline);
  if (*cut)
    return true;
  if (metric_needs_operations(row->metric) &&
      (!sample->has_operations || sample->operations <= 0 || (baseline && !baseline->has_operations)))
    return diag_error(diag, NULL, 0, 0,
                      "row `%s`: its scenario, or the baseline's, doesn't say how many operations it does", row->row);
  row->verdict = sample->verdict;
  row->as_expected = sample->as_expected;
  if (lacks_time(row, sample, baseline))
    row->predicted = row->deviation = row->speedup = row->speedup_deviation = NAN;
  else
    set_prediction(row, sample, baseline);
  if (row->metric == METRIC_MICROSECONDS || row->metric == METRIC_MILLISECONDS) {
    g_autoptr(Machine) machine = load_machine(runs, row, diag);
    double cycle = (row->metric == METRIC_MILLISECONDS ? 1e3 : 1e6) / machine->clocks.sm;
    row->predicted *= cycle;
    row->deviation *= cycle;
  }
  judge(row);
  return true;
}

/* --- the summary --- */

/* True if the row counts in the mean error of a group and metric. */
static bool counts(const ValidationRow *row, ValidationGroup group, Metric metric) {
  return row->group == group && row->metric == metric && !isnan(row->predicted) && !row->is_baseline &&
         row->has_error;
}

/* Rows of one statement: how far the published value of `row` is from their predictions, in percent of it. */
static double error_of_band(const GPtrArray *rows, const ValidationRow *row) {
  double least = INFINITY, most = -INFINITY, nearest = INFINITY;
  for (guint i = 0; i < rows->len; i++) {
    const ValidationRow *other = g_ptr_array_index(rows, i);
    least = MIN(least, other->predicted);
    most = MAX(most, other->predicted);
    nearest = MIN(nearest, fabs(other->predicted / row->published - 1) * 100);
  }
  bool kept = (row->bound == BOUND_BELOW && least < row->published) ||
              (row->bound == BOUND_ABOVE && most > row->published) ||
              (row->bound == BOUND_NONE && least <= row->published && row->published <= most);
  return kept ? 0 : nearest;
}

/* The rows that count and have the statement of the row at `at`: that one alone, if it has none. Empty if one of them
 * stands before it. */
static GPtrArray *rows_of_statement(const Validation *validation, guint at) {
  const ValidationRow *first = g_ptr_array_index(validation->rows, at);
  GPtrArray *rows = g_ptr_array_new();
  for (guint i = *first->statement ? 0 : at; i < (*first->statement ? validation->rows->len : at + 1); i++) {
    ValidationRow *row = g_ptr_array_index(validation->rows, i);
    if (!counts(row, first->group, first->metric) || strcmp(row->statement, first->statement) != 0)
      continue;
    if (i < at) {
      g_ptr_array_set_size(rows, 0);
      break;
    }
    g_ptr_array_add(rows, row);
  }
  return rows;
}

static void summarize_statements(const Validation *validation, ValidationSummary *summary) {
  bool named = false;
  double total = 0;
  for (guint i = 0; i < validation->rows->len; i++) {
    const ValidationRow *row = g_ptr_array_index(validation->rows, i);
    if (!counts(row, summary->group, summary->metric))
      continue;
    g_autoptr(GPtrArray) rows = rows_of_statement(validation, i);
    double error = INFINITY;
    for (guint j = 0; j < rows->len; j++)
      error = MIN(error, error_of_band(rows, g_ptr_array_index(rows, j)));
    named = named || *row->statement;
    if (!rows->len)
      continue;
    summary->statements++;
    total += error;
    summary->statement_worst_percent = MAX(summary->statement_worst_percent, error);
  }
  summary->statement_error_percent = summary->statements ? total / summary->statements : 0;
  summary->statements = named ? summary->statements : 0;
}

static void summarize(Validation *validation, ValidationGroup group, Metric metric) {
  ValidationSummary summary = {.group = group, .metric = metric};
  g_autofree double *published = g_new(double, validation->rows->len),
                    *predicted = g_new(double, validation->rows->len);
  double total = 0;
  for (guint i = 0; i < validation->rows->len; i++) {
    const ValidationRow *row = g_ptr_array_index(validation->rows, i);
    if (row->group != group || row->metric != metric || isnan(row->predicted))
      continue;
    published[summary.rows] = row->published;
    predicted[summary.rows++] = row->predicted;
    if (!counts(row, group, metric))
      continue;
    summary.errors++;
    total += fabs(row->error_percent);
  }
  if (summary.rows == 0)
    return;
  summary.mean_error_percent = summary.errors ? total / summary.errors : 0;
  summarize_statements(validation, &summary);
  summary.has_correlation =
      summary.rows >= 3 && correlation_of_ranks(published, predicted, summary.rows, &summary.correlation);
  g_array_append_val(validation->summaries, summary);
}

/* --- the whole --- */

bool validate_suite(Validation *validation, ValidateRuns *runs, Diag *diag) {
  validation->seeds = runs->options->seeds;
  validate_runs_want(runs, validation);
  if (!measure(runs, validation, diag))
    return false;
  for (guint i = 0; i < validation->rows->len && !validation->cut_short; i++) {
    if (!predict(validation, i, runs, &validation->cut_short, diag))
      return false;
    if (validation->cut_short) /* this row and the others weren't measured */
      g_ptr_array_set_size(validation->rows, (gint)i);
  }
  for (ValidationGroup group = 0; group < GROUP_COUNT; group++)
    for (Metric metric = 0; metric < METRIC_COUNT; metric++)
      summarize(validation, group, metric);
  return true;
}

char *validation_judgement_text(const ValidationRow *row) {
  bool counted = row->metric == METRIC_SHARED_BYTES || row->metric == METRIC_LOCK_BITS ||
                 metric_is_sign(row->metric) || row->metric == METRIC_RESIDENT_BLOCKS;
  if (row->is_baseline)
    return g_strdup("baseline");
  if (row->bound != BOUND_NONE && !isnan(row->predicted))
    return g_strdup_printf("%s %s", keeps_bound(row) ? "is" : "isn't", row->bound == BOUND_BELOW ? "below" : "above");
  if (row->judgement == JUDGED_NOT)
    return g_strdup(!counted || isnan(row->predicted) ? "" : row->predicted == row->published ? "equal" : "differs");
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
