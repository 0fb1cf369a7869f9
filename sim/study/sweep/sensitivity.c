#include "sim/study/sweep/sensitivity.h"

#include <math.h>
#include <string.h>

#include "sim/study/sweep/row.h"

static void clear_row(gpointer data) {
  Elasticity *row = data;
  g_free(row->lower);
  g_free(row->higher);
  g_free(row->problem);
}

void sensitivity_free(Sensitivity *sensitivity) {
  if (!sensitivity)
    return;
  g_array_unref(sensitivity->rows);
  g_free(sensitivity);
}

/* --- the plan --- */

static bool is_wanted(const char *path, const char *const *prefixes) {
  if (!prefixes)
    return true;
  for (; *prefixes; prefixes++)
    if (g_str_has_prefix(path, *prefixes))
      return true;
  return false;
}

/* A number that is a name: there is no GPU between two generations. */
static bool is_amount(const char *path) { return strcmp(path, "gpu.compute_capability") != 0; }

static void add_part(Plan *plan, const PlanPart *base, const char *path, const char *value) {
  AxisPlace place = {.option = path};
  Axis *axis = axis_new(AXIS_SETTING, path, &place);
  PlanPart *part = plan_part_copy(base);
  g_ptr_array_add(axis->values, g_strdup(value));
  plan_part_put(part, axis);
  g_ptr_array_add(plan->parts, part);
}

/* The first part is without a change; then come a part for each value that was tried. */
static Plan *make_plan(const Plan *given, const Machine *machine, double by, const char *const *prefixes,
                       GArray *rows) {
  Plan *plan = plan_like(given);
  const PlanPart *base = g_ptr_array_index(given->parts, 0);
  g_ptr_array_add(plan->parts, plan_part_copy(base));
  for (unsigned i = 0; i < machine_param_count(); i++) {
    const char *path = machine_param_path(i);
    if (!is_wanted(path, prefixes) || !is_amount(path))
      continue;
    Elasticity row = {.param = i,
                      .lower = machine_param_scaled(machine, i, 1 - by),
                      .higher = machine_param_scaled(machine, i, 1 + by)};
    if (!row.lower && !row.higher)
      continue;
    if (row.lower)
      add_part(plan, base, path, row.lower);
    if (row.higher)
      add_part(plan, base, path, row.higher);
    g_array_append_val(rows, row);
  }
  return plan;
}

/* --- elasticities --- */

static double value_of(const Machine *machine, unsigned param, const char *text) {
  g_autoptr(Machine) copy = machine_copy(machine);
  g_autoptr(Diag) ignored = diag_new();
  double value;
  if (text)
    machine_set(copy, machine_param_path(param), text, ignored);
  machine_param_number(copy, param, &value);
  return value;
}

/* From two measurements: with values apart by what they are apart. */
static void set_elasticity(Elasticity *row, const Machine *machine, const Measured *low, const Measured *high,
                           unsigned seeds) {
  double change = log(value_of(machine, row->param, row->higher) / value_of(machine, row->param, row->lower));
  for (unsigned i = 0; i < seeds; i++) {
    double elasticity = log(high->seeds[i] / low->seeds[i]) / change;
    row->mean += (elasticity - row->mean) / (i + 1);
    row->lowest = i ? MIN(row->lowest, elasticity) : elasticity;
    row->highest = i ? MAX(row->highest, elasticity) : elasticity;
  }
}

static void fill_row(Elasticity *row, const Machine *machine, const GArray *all, guint *at, unsigned seeds) {
  const Measured *base = &g_array_index(all, Measured, 0);
  const Measured *low = row->lower ? &g_array_index(all, Measured, (*at)++) : base;
  const Measured *high = row->higher ? &g_array_index(all, Measured, (*at)++) : base;
  /* a value that doesn't go with the others counts as one that can't be had */
  if (!low->completed && high->completed && high != base) {
    g_clear_pointer(&row->lower, g_free);
    low = base;
  } else if (!high->completed && low->completed && low != base) {
    g_clear_pointer(&row->higher, g_free);
    high = base;
  }
  if (low->completed && high->completed)
    set_elasticity(row, machine, low, high, seeds);
  else
    row->problem = g_strdup(low->completed ? high->problem : low->problem);
}

static gint compare_rows(gconstpointer a, gconstpointer b) {
  const Elasticity *one = a, *other = b;
  if (!one->problem != !other->problem)
    return one->problem ? 1 : -1;
  double difference = fabs(other->mean) - fabs(one->mean);
  return difference > 0 ? 1 : difference < 0 ? -1 : (gint)one->param - (gint)other->param;
}

Sensitivity *sensitivity_of(const Plan *given, const Machine *machine, double by, const char *const *prefixes,
                            const SweepOptions *options, Diag *diag) {
  g_autoptr(GArray) rows = g_array_new(FALSE, TRUE, sizeof(Elasticity));
  g_array_set_clear_func(rows, clear_row);
  g_autoptr(Plan) plan = make_plan(given, machine, by, prefixes, rows);
  g_autofree char *header = row_header(plan);
  g_autoptr(Store) store = store_new(header);
  g_autoptr(GArray) all = measure_plan(plan, store, options, diag);
  if (!all)
    return NULL;
  const Measured *base = &g_array_index(all, Measured, 0);
  if (!base->completed) {
    const PlanPart *part = g_ptr_array_index(given->parts, 0);
    diag_error(diag, ((const PlanName *)g_ptr_array_index(part->scenarios, 0))->text, 0, 0,
               "without a change the run doesn't complete on %s: %s", machine->name, base->problem);
    return NULL;
  }
  guint at = 1;
  for (guint i = 0; i < rows->len; i++)
    fill_row(&g_array_index(rows, Elasticity, i), machine, all, &at, plan->seeds);
  g_array_sort(rows, compare_rows);
  Sensitivity *sensitivity = g_new0(Sensitivity, 1);
  *sensitivity = (Sensitivity){.base = base->mean, .rows = g_steal_pointer(&rows), .runs = all->len * plan->seeds};
  return sensitivity;
}
