#include "sim/study/sweep/plan.h"

#include <string.h>

#include "base/quote.h"
#include "sim/engine/counter.h"
#include "sim/study/simulation.h"

Plan *plan_empty(void) {
  Plan *plan = g_new0(Plan, 1);
  plan->parts = g_ptr_array_new_with_free_func(plan_part_free);
  plan->numbers = g_ptr_array_new_with_free_func(g_free);
  plan->seed = 1;
  plan->seeds = 1;
  plan->limit_cycles = LIMIT_CYCLES_DEFAULT;
  plan->compiled = nvcc_cache_new();
  return plan;
}

Plan *plan_like(const Plan *given) {
  Plan *plan = plan_empty();
  plan->seed = given->seed;
  plan->seeds = given->seeds;
  plan->limit_cycles = given->limit_cycles;
  plan->point_seconds = given->point_seconds;
  plan->code = given->code;
  nvcc_cache_unref(plan->compiled);
  plan->compiled = nvcc_cache_ref(given->compiled);
  return plan;
}

Plan *plan_new(void) {
  Plan *plan = plan_empty();
  g_ptr_array_add(plan->parts, plan_part_new());
  return plan;
}

void plan_free(Plan *plan) {
  if (!plan)
    return;
  nvcc_cache_unref(plan->compiled);
  g_free(plan->file);
  g_ptr_array_free(plan->parts, TRUE);
  g_ptr_array_free(plan->numbers, TRUE);
  g_free(plan);
}

bool plan_set_axis(Plan *plan, AxisKind kind, const char *option, Diag *diag) {
  const char *letter = kind == AXIS_SETTING ? "-s" : "-p";
  const char *equals = strchr(option, '=');
  if (!equals || equals == option)
    return diag_usage(diag, "%s %s: expected %s=VALUES", letter, option, kind == AXIS_SETTING ? "PATH" : "NAME");
  g_autofree char *name = g_strndup(option, (gsize)(equals - option));
  g_autofree char *shown = g_strdup_printf("%s %s", letter, option);
  AxisPlace place = {.option = shown};
  for (guint i = 0; i < plan->parts->len; i++) {
    Axis *axis = axis_new(kind, name, &place);
    if (!axis_parse(equals + 1, &place, axis->values, diag)) {
      axis_free(axis);
      return false;
    }
    plan_part_put(g_ptr_array_index(plan->parts, i), axis);
  }
  return true;
}

bool plan_add_number(Plan *plan, const char *name, const AxisPlace *place, Diag *diag) {
  const char *names[COUNTER_COUNT + 1] = {NULL};
  for (guint i = 0; i < COUNTER_COUNT; i++)
    names[i] = counter_info[i].name;
  if (g_strv_contains(names, name)) {
    if (!g_ptr_array_find_with_equal_func(plan->numbers, name, g_str_equal, NULL))
      g_ptr_array_add(plan->numbers, g_strdup(name));
    return true;
  }
  g_autofree char *quoted = quote_text(name);
  axis_error(place, diag, "there is no counter %s", quoted);
  diag_hint_nearest(diag, name, names);
  diag_hint(diag, "`lockstep doc counters` lists them");
  return false;
}

/* --- points --- */

/* So many without seeds; more than the limit stands for any number above it. */
static guint64 part_points(const PlanPart *part) {
  guint64 points = (guint64)part->scenarios->len * MAX(part->machines->len, 1u);
  for (guint i = 0; i < part->axes->len && points <= PLAN_POINTS_MAX; i++)
    points *= ((const Axis *)g_ptr_array_index(part->axes, i))->values->len;
  return points;
}

guint64 plan_points(const Plan *plan) {
  guint64 points = 0;
  for (guint i = 0; i < plan->parts->len && points <= PLAN_POINTS_MAX; i++)
    points += part_points(g_ptr_array_index(plan->parts, i));
  return points * plan->seeds;
}

bool plan_check(const Plan *plan, Diag *diag) {
  AxisPlace place = {.file = plan->file, .option = "sweep"};
  for (guint i = 0; i < plan->parts->len; i++) {
    const PlanPart *part = g_ptr_array_index(plan->parts, i);
    AxisPlace at = {.file = plan->file, .line = part->line, .column = part->column, .option = "sweep"};
    if (part->scenarios->len == 0)
      return axis_error(&at, diag, plan->parts->len > 1 ? "part %u names no scenario" : "no scenario named", i + 1);
  }
  if (plan_points(plan) <= PLAN_POINTS_MAX)
    return true;
  return axis_error(&place, diag, "more than %d points", PLAN_POINTS_MAX);
}

/* Takes the digit of a number in a mixed base off its end. */
static guint64 take_digit(guint64 *rest, guint64 base) {
  guint64 digit = *rest % base;
  *rest /= base;
  return digit;
}

static char **list_values(const PlanPoint *point, AxisKind kind) {
  g_autoptr(GStrvBuilder) list = g_strv_builder_new();
  for (guint i = 0; i < point->part->axes->len; i++) {
    const Axis *axis = g_ptr_array_index(point->part->axes, i);
    g_autofree char *text = g_strdup_printf("%s=%s", axis->name, point->axis_value[i]);
    if (axis->kind == kind)
      g_strv_builder_add(list, text);
  }
  return g_strv_builder_end(list);
}

void plan_point(const Plan *plan, guint64 index, PlanPoint *point) {
  guint part = 0;
  guint64 rest = index;
  const PlanPart *found = g_ptr_array_index(plan->parts, 0);
  while (rest >= part_points(found) * plan->seeds) {
    rest -= part_points(found) * plan->seeds;
    found = g_ptr_array_index(plan->parts, ++part);
  }
  *point = (PlanPoint){.part = found, .axis_value = g_new0(const char *, found->axes->len + 1)};
  point->seed = plan->seed + take_digit(&rest, plan->seeds);
  for (guint i = found->axes->len; i > 0; i--) {
    const Axis *axis = g_ptr_array_index(found->axes, i - 1);
    point->axis_value[i - 1] = g_ptr_array_index(axis->values, take_digit(&rest, axis->values->len));
  }
  if (found->machines->len)
    point->machine = plan_part_text(found->machines, (guint)take_digit(&rest, found->machines->len));
  point->scenario = plan_part_text(found->scenarios, (guint)rest);
  point->settings = list_values(point, AXIS_SETTING);
  point->params = list_values(point, AXIS_PARAM);
}

void plan_point_clear(PlanPoint *point) {
  g_strfreev(point->settings);
  g_strfreev(point->params);
  g_free(point->axis_value);
}
