#include "sim/study/sweep/tune.h"

#include <math.h>
#include <string.h>

#include "sim/study/sweep/row.h"

enum { GRID_VALUES_MAX = 9, GRID_VALUES_MIN = 3 };

typedef struct Search {
  const Plan *plan;
  const GArray *axes;
  guint budget;
  Store *store;
  const SweepOptions *options;
  Diag *diag;
  Tuned *tuned;
  double factor[TUNE_AXES_MAX]; /* of a step along each axis */
} Search;

void tuned_free(Tuned *tuned) {
  if (!tuned)
    return;
  g_array_unref(tuned->points);
  g_string_chunk_free(tuned->problems);
  g_free(tuned);
}

static const TuneAxis *axis_at(const GArray *axes, guint index) { return &g_array_index(axes, TuneAxis, index); }

/* --- measuring points --- */

/* A plan of one part for each point; without points, one of the scenario's own values. */
static Plan *plan_of(const Plan *given, const GArray *axes, const TunePoint *points, guint count) {
  Plan *plan = plan_like(given);
  for (guint i = 0; i < MAX(count, 1u); i++) {
    PlanPart *part = plan_part_copy(g_ptr_array_index(given->parts, 0));
    for (guint j = 0; count && j < axes->len; j++) {
      AxisPlace place = {.option = axis_at(axes, j)->name};
      Axis *axis = axis_new(AXIS_PARAM, axis_at(axes, j)->name, &place);
      g_ptr_array_add(axis->values, g_strdup_printf("%" G_GINT64_FORMAT, points[i].value[j]));
      plan_part_put(part, axis);
    }
    g_ptr_array_add(plan->parts, part);
  }
  return plan;
}

char *tune_header(const Plan *plan, const GArray *axes) {
  TunePoint point = {.mean = 0};
  g_autoptr(Plan) one = plan_of(plan, axes, &point, 1);
  return row_header(one);
}

GPtrArray *tune_keys(const Plan *given, const GArray *axes, const Tuned *tuned, Diag *diag) {
  g_autoptr(Plan) plan = plan_of(given, axes, (const TunePoint *)tuned->points->data, tuned->points->len);
  g_autoptr(SweepPoints) points = sweep_points_new(plan, diag);
  return points ? g_ptr_array_ref(points->keys) : g_ptr_array_new();
}

static bool is_better(const TunePoint *a, const TunePoint *b) { return a->cost < b->cost; }

/* Microseconds of an operation, or of all of them. */
static double cost_of(const Measured *measured) { return measured->rate > 0 ? 1e6 / measured->rate : measured->mean; }

/* Are two times those of different numbers of operations? */
static bool counts_differ(double time, double cost, double other_time, double other_cost) {
  return isfinite(time) && isfinite(other_time) && fabs(time / cost / (other_time / other_cost) - 1) > 1e-6;
}

static void take_point(Search *search, TunePoint point, const Measured *measured) {
  Tuned *tuned = search->tuned;
  bool completed = measured->completed;
  point.mean = completed ? measured->mean : INFINITY;
  point.lowest = completed ? measured->lowest : INFINITY;
  point.highest = completed ? measured->highest : INFINITY;
  point.cost = completed ? cost_of(measured) : INFINITY;
  point.problem = completed ? NULL : g_string_chunk_insert_const(tuned->problems, measured->problem);
  g_array_append_val(tuned->points, point);
  const TunePoint *best = &g_array_index(tuned->points, TunePoint, tuned->best);
  tuned->counts_vary |= counts_differ(point.mean, point.cost, best->mean, best->cost) ||
                        counts_differ(point.mean, point.cost, tuned->plain, tuned->plain_cost);
  if (is_better(&point, best))
    tuned->best = tuned->points->len - 1;
}

/* Measures the points of `batch` that the budget allows, and adds them. False after errors, or if it was stopped. */
static bool measure_batch(Search *search, GArray *batch) {
  Tuned *tuned = search->tuned;
  guint count = MIN(batch->len, search->budget - tuned->points->len);
  if (count == 0)
    return true;
  g_autoptr(Plan) plan = plan_of(search->plan, search->axes, (const TunePoint *)batch->data, count);
  g_autoptr(GArray) all = measure_plan(plan, search->store, search->options, search->diag);
  if (!all)
    return false;
  for (guint i = 0; i < count; i++)
    take_point(search, g_array_index(batch, TunePoint, i), &g_array_index(all, Measured, i));
  return true;
}

static bool is_known(const Search *search, const GArray *batch, const TunePoint *point) {
  const GArray *lists[] = {search->tuned->points, batch};
  for (guint i = 0; i < G_N_ELEMENTS(lists); i++)
    for (guint j = 0; j < lists[i]->len; j++)
      if (memcmp(g_array_index(lists[i], TunePoint, j).value, point->value, sizeof point->value) == 0)
        return true;
  return false;
}

static void add_new(const Search *search, GArray *batch, const TunePoint *point) {
  if (!is_known(search, batch, point))
    g_array_append_vals(batch, point, 1);
}

/* --- the grid --- */

/* Values of an axis: both ends, and between them others by a constant factor (0 is taken as a half). */
static guint grid_values(const TuneAxis *axis, guint wanted, gint64 *values) {
  double low = axis->lowest > 0 ? (double)axis->lowest : 0.5, high = MAX((double)axis->highest, low);
  guint count = 0;
  for (guint i = 0; i < wanted; i++) {
    double exact = low * pow(high / low, (double)i / (wanted - 1));
    gint64 value = i == 0 ? axis->lowest : i + 1 == wanted ? axis->highest : (gint64)llround(exact);
    if (count == 0 || values[count - 1] < value)
      values[count++] = value;
  }
  return count;
}

static bool search_grid(Search *search) {
  gint64 values[TUNE_AXES_MAX][GRID_VALUES_MAX];
  guint counts[TUNE_AXES_MAX], all = 1;
  double share = pow(search->budget / 2.0, 1.0 / search->axes->len);
  guint wanted = CLAMP((guint)share, GRID_VALUES_MIN, GRID_VALUES_MAX);
  for (guint i = 0; i < search->axes->len; i++) {
    const TuneAxis *axis = axis_at(search->axes, i);
    counts[i] = grid_values(axis, wanted, values[i]);
    all *= counts[i];
    search->factor[i] =
        pow(MAX((double)axis->highest, 1) / MAX((double)axis->lowest, 0.5), 1.0 / MAX(counts[i] - 1, 1u));
  }
  g_autoptr(GArray) batch = g_array_new(FALSE, TRUE, sizeof(TunePoint));
  for (guint i = 0; i < all; i++) {
    TunePoint point = {.mean = 0};
    for (guint j = 0, rest = i; j < search->axes->len; rest /= counts[j++])
      point.value[j] = values[j][rest % counts[j]];
    add_new(search, batch, &point);
  }
  bool good = measure_batch(search, batch);
  search->tuned->grid = search->tuned->points->len;
  return good;
}

/* --- the pattern search --- */

static gint64 step_from(const Search *search, guint axis, gint64 value, bool up) {
  const TuneAxis *range = axis_at(search->axes, axis);
  double base = value > 0 ? (double)value : 0.5;
  double exact = up ? base * search->factor[axis] : base / search->factor[axis];
  gint64 next = (gint64)llround(CLAMP(exact, (double)range->lowest, (double)range->highest));
  if (next == value)
    next += up ? 1 : -1;
  return CLAMP(next, range->lowest, range->highest);
}

static void list_steps(const Search *search, GArray *batch) {
  const TunePoint *best = &g_array_index(search->tuned->points, TunePoint, search->tuned->best);
  for (guint i = 0; i < search->axes->len; i++)
    for (int up = 0; up < 2; up++) {
      TunePoint point = {.mean = 0};
      memcpy(point.value, best->value, sizeof point.value);
      point.value[i] = step_from(search, i, best->value[i], up);
      add_new(search, batch, &point);
    }
}

/* Smaller steps; false if they are all of one already. */
static bool shrink(Search *search) {
  bool some = false;
  const TunePoint *best = &g_array_index(search->tuned->points, TunePoint, search->tuned->best);
  for (guint i = 0; i < search->axes->len; i++) {
    gint64 value = best->value[i];
    some |= step_from(search, i, value, true) - value > 1 || value - step_from(search, i, value, false) > 1;
    search->factor[i] = sqrt(search->factor[i]);
  }
  return some;
}

static bool search_pattern(Search *search) {
  Tuned *tuned = search->tuned;
  while (tuned->points->len < search->budget) {
    guint before = tuned->best;
    g_autoptr(GArray) batch = g_array_new(FALSE, TRUE, sizeof(TunePoint));
    list_steps(search, batch);
    if (!measure_batch(search, batch))
      return false;
    if (tuned->best == before && !shrink(search))
      return true;
  }
  return true;
}

/* With the scenario's own values; the columns aren't those of the store. */
static bool measure_plain(Search *search) {
  g_autoptr(Plan) plan = plan_of(search->plan, search->axes, NULL, 0);
  g_autofree char *header = row_header(plan);
  g_autoptr(Store) store = store_new(header);
  g_autoptr(GArray) all = measure_plan(plan, store, search->options, search->diag);
  if (!all)
    return false;
  const Measured *plain = &g_array_index(all, Measured, 0);
  search->tuned->plain = plain->completed ? plain->mean : NAN;
  search->tuned->plain_cost = plain->completed ? cost_of(plain) : NAN;
  return true;
}

Tuned *tune(const Plan *plan, const GArray *axes, guint budget, Store *store, const SweepOptions *options,
            Diag *diag) {
  g_autoptr(Tuned) tuned = g_new0(Tuned, 1);
  tuned->points = g_array_new(FALSE, TRUE, sizeof(TunePoint));
  tuned->problems = g_string_chunk_new(256);
  Search search = {plan, axes, budget, store, options, diag, tuned, {0}};
  bool good = measure_plain(&search) && search_grid(&search);
  if (good && isinf(g_array_index(tuned->points, TunePoint, tuned->best).mean))
    good = diag_error(diag, NULL, 0, 0, "no point of the grid completes: %s",
                      g_array_index(tuned->points, TunePoint, 0).problem);
  good = good && search_pattern(&search);
  return good ? g_steal_pointer(&tuned) : NULL;
}
