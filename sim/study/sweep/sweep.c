#include "sim/study/sweep/sweep.h"

#include <string.h>

#include "base/datadir.h"
#include "base/quote.h"
#include "config.h"
#include "isa/disasm.h"
#include "sim/scenario/expr.h"
#include "sim/scenario/scenario.h"
#include "sim/study/sweep/row.h"

enum { KEY_CHARS = 16, TASKS_AHEAD = 4 };

/* --- what there is --- */

/* A scenario on a machine. */
typedef struct Subject {
  Machine *machine; /* without a point's values */
  char *digest;     /* of both */
  char *file;       /* the scenario's */
  char **params;    /* names of its params */
} Subject;

typedef struct Preparation {
  const Plan *plan;
  GHashTable *subjects; /* "SCENARIO\nMACHINE" -> Subject * */
  GHashTable *called;   /* "scenario NAME", "machine NAME", as rows have it -> Called * */
  Diag *diag;
} Preparation;

/* Who has a name in the rows. */
typedef struct Called {
  char *text;     /* as the plan names it */
  char *identity; /* a scenario's path, all values of a machine */
} Called;

static ScenarioOptions scenario_options(const Plan *plan, const PlanPoint *point, const char *machine) {
  return (ScenarioOptions){
      .params = point ? (const char *const *)point->params : NULL,
      .scenario_only = true,
      .machine = machine,
      .settings = point ? (const char *const *)point->settings : NULL,
      .code = plan->code,
      .compiled = plan->compiled,
  };
}

static const char *machine_name(const char *named, const Scenario *scenario, Diag *diag) {
  if (named)
    return named;
  if (scenario->machines[0])
    return scenario->machines[0];
  diag_usage(diag, "no machine named for `%s`", scenario->file);
  diag_hint(diag, "name one with -m; `lockstep machine list` shows them");
  return NULL;
}

/* Each value of the settings must be one that the machine can have; whether they go together is seen at each
 * point. */
static bool check_settings(const PlanPart *part, const Machine *machine, Diag *diag) {
  bool good = true;
  for (guint i = 0; i < part->axes->len; i++) {
    const Axis *axis = g_ptr_array_index(part->axes, i);
    g_autoptr(Machine) copy = machine_copy(machine);
    for (guint j = 0; axis->kind == AXIS_SETTING && j < axis->values->len; j++) {
      g_autoptr(Diag) found = diag_new();
      if (machine_set(copy, axis->name, g_ptr_array_index(axis->values, j), found))
        continue;
      good = axis_error(&axis->place, diag, "%s", diag_item(found, 0)->message);
      if (diag_item(found, 0)->hint)
        diag_hint(diag, "%s", diag_item(found, 0)->hint);
      break;
    }
  }
  return good;
}

/* What a value asked for: its own names are params, whose values differ from point to point. */
typedef struct Names {
  const char *const *params;
  bool asked, unknown;
} Names;

static bool look_up_name(const char *name, int64_t *value, gpointer user) {
  Names *names = user;
  names->asked = true;
  names->unknown |= !g_strv_contains(names->params, name);
  *value = 1;
  return !names->unknown;
}

/* A value must be an expression over params of the scenario. Whether it can be worked out is seen at each point if it
 * names any. */
static bool check_values(const Axis *axis, const char *const *params, Diag *diag) {
  for (guint i = 0; i < axis->values->len; i++) {
    g_autoptr(Diag) found = diag_new();
    Names names = {.params = params};
    ExprScope scope = {.lookup = look_up_name, .user = &names, .names = params};
    int64_t value;
    if (expr_evaluate(g_ptr_array_index(axis->values, i), &scope, NULL, 0, 0, &value, found) ||
        (names.asked && !names.unknown))
      continue;
    axis_error(&axis->place, diag, "%s", diag_item(found, 0)->message);
    if (diag_item(found, 0)->hint)
      diag_hint(diag, "%s", diag_item(found, 0)->hint);
    return false;
  }
  return true;
}

static bool check_params(const PlanPart *part, const Subject *subject, Diag *diag) {
  const char *const *params = (const char *const *)subject->params;
  bool good = true;
  for (guint i = 0; i < part->axes->len; i++) {
    const Axis *axis = g_ptr_array_index(part->axes, i);
    if (axis->kind == AXIS_SETTING)
      continue;
    if (g_strv_contains(params, axis->name)) {
      good &= check_values(axis, params, diag);
      continue;
    }
    good = axis_error(&axis->place, diag, "%s has no param `%s`", subject->file, axis->name);
    diag_hint_nearest(diag, axis->name, params);
  }
  return good;
}

static char *subject_digest(const Scenario *scenario, const Machine *machine, Diag *diag) {
  const Program *program = scenario_program(scenario, machine, diag);
  if (!program)
    return NULL;
  g_autofree char *code = disasm_program(program);
  g_autofree char *dump = machine_dump(machine);
  g_autofree char *all =
      g_strdup_printf("%s\n%s\n%s\n%s\n%s", PACKAGE_STRING, scenario->name, scenario->digest, code, dump);
  return g_compute_checksum_for_string(G_CHECKSUM_SHA256, all, -1);
}

static void free_subject(gpointer data) {
  Subject *subject = data;
  machine_free(subject->machine);
  g_free(subject->digest);
  g_free(subject->file);
  g_strfreev(subject->params);
  g_free(subject);
}

static char *subject_name(const char *scenario, const char *machine) {
  return g_strdup_printf("%s\n%s", scenario, machine ? machine : "");
}

static const Subject *find_subject(GHashTable *subjects, const PlanPoint *point) {
  g_autofree char *name = subject_name(point->scenario, point->machine);
  return g_hash_table_lookup(subjects, name);
}

/* A file that a plan names: an error at its place there, if there is none. */
static bool check_file(const PlanName *name, Diag *diag) {
  g_autofree char *real = datadir_resolve(name->text);
  if (!name->place.file || g_file_test(real, G_FILE_TEST_EXISTS))
    return true;
  g_autofree char *shown = quote_name(name->text);
  axis_error(&name->place, diag, "`%s`: no such file", shown);
  datadir_hint_nearest(name->text, diag);
  return false;
}

/* What is wrong with the name of a machine is told where a plan has it. */
static Machine *load_machine(const char *name, const PlanName *named, Diag *diag) {
  g_autoptr(Diag) found = diag_new();
  Machine *machine = machine_load(name, NULL, found);
  bool is_name = !machine && diag_exit_status(found) == 2;
  if (!is_name || !named || !named->place.file) {
    diag_add_all(diag, found);
    return machine;
  }
  axis_error(&named->place, diag, "%s", diag_item(found, 0)->message);
  diag_hint(diag, "%s", diag_item(found, 0)->hint);
  return NULL;
}

/* --- names in rows --- */

static void free_called(gpointer data) {
  Called *called = data;
  g_free(called->text);
  g_free(called->identity);
  g_free(called);
}

/* The name of a scenario in its rows: that of the file, without what it ends in. */
static char *scenario_called(const char *path) {
  char *base = g_path_get_basename(path), *dot = strrchr(base, '.');
  if (dot && dot != base)
    *dot = '\0';
  return base;
}

/* Two scenarios, or machines, of one name: nobody could tell their rows apart, and a plot would draw the mean. */
static bool check_called(Preparation *preparation, const char *kind, const char *name, const char *text,
                         const char *identity, const PlanName *named) {
  g_autofree char *key = g_strdup_printf("%s %s", kind, name);
  const Called *other = g_hash_table_lookup(preparation->called, key);
  if (other && strcmp(other->identity, identity) == 0)
    return true;
  if (!other) {
    Called *called = g_new(Called, 1);
    *called = (Called){g_strdup(text), g_strdup(identity)};
    g_hash_table_insert(preparation->called, g_steal_pointer(&key), called);
    return true;
  }
  g_autofree char *quoted = quote_name(name), *first = quote_name(other->text), *second = quote_name(text);
  g_autofree char *message =
      g_strdup_printf("two %ss are called `%s` in the rows: `%s` and `%s`", kind, quoted, first, second);
  if (named && named->place.file)
    axis_error(&named->place, preparation->diag, "%s", message);
  else
    diag_usage(preparation->diag, "%s", message);
  diag_hint(preparation->diag, "give one of them another name%s",
            strcmp(kind, "machine") == 0 ? ": `name` in its file" : "");
  return false;
}

static bool check_names(Preparation *preparation, const Subject *subject, const PlanName *path,
                        const PlanName *named) {
  g_autofree char *real = datadir_resolve(path->text), *identity = g_canonicalize_filename(real, NULL);
  g_autofree char *scenario = scenario_called(path->text), *values = machine_dump(subject->machine);
  return check_called(preparation, "scenario", scenario, path->text, identity, path) &&
         check_called(preparation, "machine", subject->machine->name, named ? named->text : subject->machine->name,
                      values, named);
}

/* Loads a scenario and a machine (`named`, NULL: the scenario's). NULL after errors. */
static Subject *load_subject(const Plan *plan, const PlanName *path, const PlanName *named, Diag *diag) {
  ScenarioOptions options = scenario_options(plan, NULL, named ? named->text : NULL);
  g_autoptr(Scenario) scenario = check_file(path, diag) ? scenario_load(path->text, &options, diag) : NULL;
  const char *name = scenario ? machine_name(named ? named->text : NULL, scenario, diag) : NULL;
  g_autoptr(Machine) machine = name ? load_machine(name, named, diag) : NULL;
  char *digest = machine ? subject_digest(scenario, machine, diag) : NULL;
  if (!digest)
    return NULL;
  Subject *subject = g_new(Subject, 1);
  *subject = (Subject){g_steal_pointer(&machine), digest, g_strdup(scenario->file), g_strdupv(scenario->params)};
  return subject;
}

static bool prepare_subject(Preparation *preparation, const PlanPart *part, const PlanName *path,
                            const PlanName *named) {
  g_autofree char *name = subject_name(path->text, named ? named->text : NULL);
  Subject *subject = g_hash_table_lookup(preparation->subjects, name);
  if (!subject) {
    subject = load_subject(preparation->plan, path, named, preparation->diag);
    if (!subject)
      return false;
    g_hash_table_replace(preparation->subjects, g_steal_pointer(&name), subject);
    if (!check_names(preparation, subject, path, named))
      return false;
  }
  bool good = check_params(part, subject, preparation->diag);
  return check_settings(part, subject->machine, preparation->diag) && good;
}

static bool prepare_part(Preparation *preparation, const PlanPart *part) {
  for (guint i = 0; i < part->scenarios->len; i++)
    for (guint j = 0; j < MAX(part->machines->len, 1u); j++)
      if (!prepare_subject(preparation, part, g_ptr_array_index(part->scenarios, i),
                           part->machines->len ? g_ptr_array_index(part->machines, j) : NULL))
        return false;
  return true;
}

/* --- keys --- */

static void update_list(GChecksum *sum, char **list) {
  for (; *list; list++)
    g_checksum_update(sum, (const guchar *)*list, (gssize)strlen(*list) + 1);
  g_checksum_update(sum, (const guchar *)"", 1);
}

static char *point_key(const SweepPoints *points, const PlanPoint *point) {
  const Plan *plan = points->plan;
  const char *digest = find_subject(points->subjects, point)->digest;
  g_autofree char *rest = g_strdup_printf("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %g %d", point->seed,
                                          plan->limit_cycles, plan->point_seconds, plan->code);
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  g_checksum_update(sum, (const guchar *)digest, -1);
  update_list(sum, point->settings);
  update_list(sum, point->params);
  g_checksum_update(sum, (const guchar *)rest, -1);
  return g_strndup(g_checksum_get_string(sum), KEY_CHARS);
}

char *sweep_key(const SweepPoints *points, guint64 index) {
  PlanPoint point;
  plan_point(points->plan, index, &point);
  char *key = point_key(points, &point);
  plan_point_clear(&point);
  return key;
}

static void list_points(SweepPoints *points) {
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  guint64 count = plan_points(points->plan);
  for (guint64 i = 0; i < count; i++) {
    char *key = sweep_key(points, i);
    if (g_hash_table_contains(seen, key)) {
      g_free(key);
      continue;
    }
    g_hash_table_add(seen, key);
    g_ptr_array_add(points->keys, key);
    g_array_append_val(points->indices, i);
  }
}

SweepPoints *sweep_points_new(const Plan *plan, Diag *diag) {
  g_autoptr(GHashTable) subjects = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_subject);
  g_autoptr(GHashTable) called = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_called);
  Preparation preparation = {plan, subjects, called, diag};
  for (guint i = 0; i < plan->parts->len; i++)
    if (!prepare_part(&preparation, g_ptr_array_index(plan->parts, i)))
      return NULL;
  SweepPoints *points = g_new0(SweepPoints, 1);
  points->plan = plan;
  points->indices = g_array_new(FALSE, FALSE, sizeof(guint64));
  points->keys = g_ptr_array_new_with_free_func(g_free);
  points->subjects = g_hash_table_ref(subjects);
  list_points(points);
  return points;
}

void sweep_points_free(SweepPoints *points) {
  if (!points)
    return;
  g_array_unref(points->indices);
  g_ptr_array_unref(points->keys);
  g_hash_table_unref(points->subjects);
  g_free(points);
}

GPtrArray *sweep_shard_keys(const SweepPoints *points, unsigned shard, unsigned shards) {
  GPtrArray *keys = g_ptr_array_new();
  for (guint i = shard - 1; i < points->keys->len; i += shards)
    g_ptr_array_add(keys, g_ptr_array_index(points->keys, i));
  return keys;
}

/* --- running --- */

typedef struct Team {
  const SweepPoints *points;
  const SweepOptions *options;
  GAsyncQueue *done; /* Task *, finished */
} Team;

typedef struct Task {
  guint index; /* in SweepPoints */
  char *row;   /* NULL: it was abandoned, since the sweep is to end */
} Task;

static char *first_error(const Diag *diag) {
  for (unsigned i = 0; i < diag_count(diag); i++)
    if (diag_item(diag, i)->severity == DIAG_ERROR)
      return g_strdup(diag_item(diag, i)->message);
  return g_strdup("no result");
}

/* A run that its own limit of time ended is a result; one that the end of the sweep ended is none. */
static RunResult *run_point(const Team *team, const Scenario *scenario, const Machine *machine,
                            const PlanPoint *point, Diag *diag) {
  const Plan *plan = team->points->plan;
  Stop stop = team->options->stop ? *team->options->stop : (Stop){0};
  gint64 limit = g_get_monotonic_time() + (gint64)(plan->point_seconds * G_USEC_PER_SEC);
  if (plan->point_seconds > 0 && (!stop.deadline || limit < stop.deadline))
    stop.deadline = limit;
  RunOptions run = run_options_default();
  run.seed = point->seed;
  run.limit_cycles = plan->limit_cycles;
  run.stop = &stop;
  return run_scenario(scenario, machine, &run, diag);
}

static char *point_row(const Team *team, const PlanPoint *point, const char *key) {
  const Plan *plan = team->points->plan;
  g_autoptr(Diag) diag = diag_new();
  ScenarioOptions options = scenario_options(plan, point, point->machine);
  g_autoptr(Scenario) scenario = scenario_load(point->scenario, &options, diag);
  const Subject *subject = find_subject(team->points->subjects, point);
  const char *named = point->machine ? point->machine : subject->machine->name;
  g_autoptr(Machine) machine = scenario ? machine_load(named, (const char *const *)point->settings, diag) : NULL;
  g_autoptr(RunResult) result = machine ? run_point(team, scenario, machine, point, diag) : NULL;
  if (result && stop_is_final(result->stop) && stop_asked(team->options->stop))
    return NULL;
  g_autofree char *name = scenario_called(point->scenario);
  g_autofree char *error = result ? NULL : first_error(diag);
  return row_text(plan, point, name, subject->machine->name, result, error, key);
}

static void work(gpointer data, gpointer user) {
  Task *task = data;
  const Team *team = user;
  PlanPoint point;
  plan_point(team->points->plan, g_array_index(team->points->indices, guint64, task->index), &point);
  if (!stop_asked(team->options->stop))
    task->row = point_row(team, &point, g_ptr_array_index(team->points->keys, task->index));
  plan_point_clear(&point);
  g_async_queue_push(team->done, task);
}

/* Takes one finished task. False after errors. */
static bool take_task(Team *team, Store *store, SweepSummary *summary, Diag *diag) {
  Task *task = g_async_queue_pop(team->done);
  bool good = true;
  if (task->row) {
    good = store_add(store, task->row, diag);
    summary->now++;
    if (team->options->step)
      team->options->step(summary->before + summary->now, summary->points, task->row, team->options->user);
  }
  g_free(task->row);
  g_free(task);
  return good;
}

static bool run_missing(Team *team, const GArray *missing, Store *store, SweepSummary *summary, Diag *diag) {
  g_autoptr(GError) error = NULL;
  GThreadPool *pool = g_thread_pool_new(work, team, (gint)team->options->threads, TRUE, &error);
  if (!pool)
    return diag_error(diag, NULL, 0, 0, "no threads: %s", error->message);
  guint next = 0, under_way = 0;
  bool good = true;
  do {
    while (good && next < missing->len && under_way < team->options->threads * TASKS_AHEAD &&
           !stop_asked(team->options->stop)) {
      Task *task = g_new0(Task, 1);
      task->index = g_array_index(missing, guint, next++);
      g_thread_pool_push(pool, task, NULL);
      under_way++;
    }
    if (under_way) {
      good &= take_task(team, store, summary, diag);
      under_way--;
    }
  } while (under_way || (good && next < missing->len && !stop_asked(team->options->stop)));
  g_thread_pool_free(pool, FALSE, TRUE);
  return good;
}

bool sweep_run(const SweepPoints *points, unsigned shard, unsigned shards, Store *store, const SweepOptions *options,
               SweepSummary *summary, Diag *diag) {
  g_autoptr(GArray) missing = g_array_new(FALSE, FALSE, sizeof(guint));
  *summary = (SweepSummary){0};
  for (guint i = shard - 1; i < points->keys->len; i += shards) {
    summary->points++;
    if (!store_row(store, g_ptr_array_index(points->keys, i)))
      g_array_append_val(missing, i);
  }
  summary->before = summary->points - missing->len;
  Team team = {points, options, g_async_queue_new()};
  if (options->step && missing->len)
    options->step(summary->before, summary->points, NULL, options->user);
  bool good = !missing->len || run_missing(&team, missing, store, summary, diag);
  g_async_queue_unref(team.done);
  summary->cut_short = good && summary->before + summary->now < summary->points;
  for (guint i = shard - 1; i < points->keys->len; i += shards) {
    const char *row = store_row(store, g_ptr_array_index(points->keys, i));
    summary->failed += row && row_is_error(row);
  }
  return good;
}
