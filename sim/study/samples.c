#include "sim/study/samples.h"

#include <math.h>

#include "sim/engine/milli.h"

/* One run. */
typedef struct Attempt {
  const SampleTask *task;
  unsigned seed;     /* from 0 on */
  bool ended;        /* it was run, to its end or to an error */
  RunResult *result; /* NULL after an error */
  Diag *diag;
} Attempt;

typedef struct Team {
  const SamplesOptions *options;
  GArray *attempts; /* Attempt: by task, and by seed */
  gint failed;      /* atomic: the number of the first run that is known to have ended with an error; else of all */
  GMutex lock;      /* of what follows, and of SamplesOptions.step */
  guint done;
} Team;

/* ---- a measurement from its runs ---- */

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

static void measurement_add(Measurement *measurement, const RunResult *result) {
  sample_add(&measurement->cycles, (double)run_result_measured_cycles(result));
  sample_add(&measurement->l2_sectors, (double)result->counters.global_segments);
  sample_add(&measurement->l2_lines, (double)result->l2_lines);
  sample_add(&measurement->dram_bytes, (double)result->dram_bytes);
  sample_add(&measurement->atomics, (double)result->counters.global_atomics);
  if (result->occupancy && result->occupancy->len)
    measurement->resident_blocks = g_array_index(result->occupancy, LaunchOccupancy, 0).resident_blocks;
  for (unsigned i = 0; i < TRANSFERS && result->locks.handovers; i++)
    sample_add(&measurement->transfer[i],
               (double)result->locks.transfer[i] / MILLI_CYCLE / (double)result->locks.handovers);
  if (result->transfers.found)
    sample_add(&measurement->measured_transfer, result->transfers.mean_cycles);
  if (verdict_rank(result->verdict) > verdict_rank(measurement->verdict))
    measurement->verdict = result->verdict;
  if (run_result_exit_status(result) != 0)
    measurement->as_expected = false;
  measurement->shared_bytes = MAX(measurement->shared_bytes, result->counters.shared_bytes_beyond_data);
  measurement->lock_bits = MAX(measurement->lock_bits, result->counters.lock_bits);
}

static Measurement *measurement_new(const Scenario *scenario) {
  Measurement *measurement = g_new0(Measurement, 1);
  measurement->scenario = g_strdup(scenario->name);
  measurement->about = g_strdup(scenario->about);
  measurement->verdict = VERDICT_COMPLETED;
  measurement->as_expected = true;
  measurement->ratio = 1;
  measurement->has_operations = scenario->measure.has_operations;
  measurement->operations = scenario->measure.operations;
  return measurement;
}

void measurement_free(Measurement *measurement) {
  if (!measurement)
    return;
  g_free(measurement->scenario);
  g_free(measurement->about);
  g_free(measurement);
}

static void free_measurement(gpointer measurement) { measurement_free(measurement); }

/* Puts runs together, from the first on, until one is missing. False after errors. */
static bool gather(const Team *team, GPtrArray *measurements, Diag *diag) {
  for (guint i = 0; i < team->attempts->len; i++) {
    const Attempt *attempt = &g_array_index(team->attempts, Attempt, i);
    if (!attempt->ended)
      break;
    diag_add_all(diag, attempt->diag);
    if (!attempt->result)
      return false;
    if (stop_is_final(attempt->result->stop))
      break; /* half a run is no sample */
    if (attempt->seed == 0)
      g_ptr_array_add(measurements, measurement_new(attempt->task->scenario));
    Measurement *measurement = g_ptr_array_index(measurements, measurements->len - 1);
    measurement_add(measurement, attempt->result);
    measurement->whole = measurement->cycles.runs == attempt->task->seeds;
  }
  return true;
}

/* ---- the runs ---- */

static void tell_step(Team *team, const Attempt *attempt, uint64_t seed) {
  if (!team->options->step)
    return;
  g_autofree char *what =
      g_strdup_printf("%s, seed %" G_GUINT64_FORMAT, attempt->task->scenario->name, (guint64)seed);
  g_mutex_lock(&team->lock);
  team->options->step(team->options->step_user, team->done, team->attempts->len, what);
  g_mutex_unlock(&team->lock);
}

/* The run has an error: those behind it needn't be made. */
static void fail(Team *team, int number) {
  int first = g_atomic_int_get(&team->failed);
  while (number < first && !g_atomic_int_compare_and_exchange(&team->failed, first, number))
    first = g_atomic_int_get(&team->failed);
}

/* One run, on any thread. All before one that has an error are made, so the first error is the same for any number of
 * threads. */
static void make_attempt(gpointer data, gpointer user) {
  Attempt *attempt = data;
  Team *team = user;
  RunOptions run = team->options->run;
  int number = (int)(attempt - &g_array_index(team->attempts, Attempt, 0));
  if (stop_asked(run.stop) || number > g_atomic_int_get(&team->failed))
    return;
  run.seed += attempt->seed;
  run.locks |= attempt->task->locks;
  if (team->options->jobs > 1) {
    run.heartbeat = NULL; /* of several runs at once */
    run.threads = 1;
  }
  tell_step(team, attempt, run.seed);
  attempt->diag = diag_new();
  attempt->result = run_scenario(attempt->task->scenario, attempt->task->machine, &run, attempt->diag);
  attempt->ended = true;
  if (!attempt->result)
    fail(team, number);
  g_mutex_lock(&team->lock);
  team->done++;
  g_mutex_unlock(&team->lock);
}

static void make_attempts(Team *team) {
  if (team->options->jobs <= 1) {
    for (guint i = 0; i < team->attempts->len; i++)
      make_attempt(&g_array_index(team->attempts, Attempt, i), team);
    return;
  }
  GThreadPool *pool = g_thread_pool_new(make_attempt, team, (gint)team->options->jobs, FALSE, NULL);
  for (guint i = 0; i < team->attempts->len; i++)
    g_thread_pool_push(pool, &g_array_index(team->attempts, Attempt, i), NULL);
  g_thread_pool_free(pool, FALSE, TRUE);
}

static void clear_attempt(gpointer data) {
  Attempt *attempt = data;
  run_result_free(attempt->result);
  if (attempt->diag)
    diag_free(attempt->diag);
}

/* All attempts of `tasks`, which are `count`. */
static void team_run(Team *team, const SampleTask *tasks, guint count, const SamplesOptions *options) {
  *team = (Team){.options = options, .attempts = g_array_new(FALSE, TRUE, sizeof(Attempt))};
  g_mutex_init(&team->lock);
  g_array_set_clear_func(team->attempts, clear_attempt);
  for (guint i = 0; i < count; i++)
    for (unsigned seed = 0; seed < tasks[i].seeds; seed++) {
      Attempt attempt = {.task = &tasks[i], .seed = seed};
      g_array_append_val(team->attempts, attempt);
    }
  team->failed = (int)team->attempts->len;
  make_attempts(team);
}

static void team_clear(Team *team) {
  g_array_unref(team->attempts);
  g_mutex_clear(&team->lock);
}

GPtrArray *samples_take(const GArray *tasks, const SamplesOptions *options, Diag *diag) {
  Team team;
  team_run(&team, (const SampleTask *)(gpointer)tasks->data, tasks->len, options);
  g_autoptr(GPtrArray) measurements = g_ptr_array_new_with_free_func(free_measurement);
  bool good = gather(&team, measurements, diag);
  team_clear(&team);
  return good ? g_steal_pointer(&measurements) : NULL;
}

/* ---- one run that stands for all ---- */

/* The shorter run first, and of two as long that of the lower seed. */
static int by_time(gconstpointer a, gconstpointer b) {
  const Attempt *one = *(Attempt *const *)a, *other = *(Attempt *const *)b;
  uint64_t first = run_result_measured_cycles(one->result), second = run_result_measured_cycles(other->result);
  return first < second ? -1 : first > second ? 1 : (int)one->seed - (int)other->seed;
}

/* The attempts that ended, those of lower seeds first. NULL after an error. */
static GPtrArray *ended(const Team *team, Diag *diag) {
  g_autoptr(GPtrArray) attempts = g_ptr_array_new();
  for (guint i = 0; i < team->attempts->len; i++) {
    Attempt *attempt = &g_array_index(team->attempts, Attempt, i);
    if (!attempt->ended)
      break;
    if (i == 0 || !attempt->result) /* what all have to say is said once */
      diag_add_all(diag, attempt->diag);
    if (!attempt->result)
      return NULL;
    g_ptr_array_add(attempts, attempt);
  }
  return g_steal_pointer(&attempts);
}

/* The first of those that end worst. */
static Attempt *worst_of(const GPtrArray *attempts) {
  Attempt *worst = g_ptr_array_index(attempts, 0);
  for (guint i = 1; i < attempts->len; i++) {
    Attempt *other = g_ptr_array_index(attempts, i);
    int status = run_result_exit_status(worst->result), others = run_result_exit_status(other->result);
    if (others != status ? exit_status_worst(status, others) == others
                         : verdict_rank(other->result->verdict) > verdict_rank(worst->result->verdict))
      worst = other;
  }
  return worst;
}

static SeedSpan span_of(const GPtrArray *sorted, const RunResult *chosen) {
  const Attempt *first = g_ptr_array_index(sorted, 0), *last = g_ptr_array_index(sorted, sorted->len - 1);
  SeedSpan span = {.seeds = sorted->len,
                   .least = run_result_measured_cycles(first->result),
                   .most = run_result_measured_cycles(last->result)};
  for (guint i = 0; i < sorted->len; i++) {
    const RunResult *run = ((Attempt *)g_ptr_array_index(sorted, i))->result;
    span.mean += (double)run_result_measured_cycles(run) / sorted->len;
    span.alike += run->verdict == chosen->verdict && run_result_exit_status(run) == run_result_exit_status(chosen);
  }
  return span;
}

RunResult *samples_median(const SampleTask *task, const SamplesOptions *options, Diag *diag) {
  Team team;
  team_run(&team, task, 1, options);
  RunResult *result = NULL;
  g_autoptr(GPtrArray) attempts = ended(&team, diag);
  if (attempts && attempts->len) {
    Attempt *chosen = worst_of(attempts);
    g_ptr_array_sort(attempts, by_time);
    if (run_result_exit_status(chosen->result) == 0)
      chosen = g_ptr_array_index(attempts, (attempts->len - 1) / 2);
    result = chosen->result;
    result->span = span_of(attempts, result);
    chosen->result = NULL;
  }
  team_clear(&team);
  return result;
}
