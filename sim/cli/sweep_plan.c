#include "sim/cli/sweep_plan.h"

#include <math.h>

#include "sim/study/sweep/submission.h"

static void take_list(GPtrArray *into, char **texts) {
  g_ptr_array_set_size(into, 0);
  for (; *texts; texts++)
    plan_part_name(into, *texts, NULL);
}

/* -m names the machines of every part. */
static void take_machines(Plan *plan, const Options *options) {
  for (guint i = 0; options->machines && i < plan->parts->len; i++)
    take_list(((PlanPart *)g_ptr_array_index(plan->parts, i))->machines, options->machines);
}

static bool take_axes(Plan *plan, const Options *options, Diag *diag) {
  bool good = true;
  for (char **text = options->overrides; text && *text; text++)
    good &= plan_set_axis(plan, AXIS_SETTING, *text, diag);
  for (char **text = options->params; text && *text; text++)
    good &= plan_set_axis(plan, AXIS_PARAM, *text, diag);
  for (char **name = options->counters; name && *name; name++) {
    AxisPlace place = {.option = "--counter"};
    good &= plan_add_number(plan, *name, &place, diag);
  }
  return good;
}

/* Options that have another value than when they aren't given. */
static void take_limits(Plan *plan, const Options *options) {
  if (options->seeds > 0)
    plan->seeds = (unsigned)options->seeds;
  if (options->seed != 1)
    plan->seed = (uint64_t)options->seed;
  if (options->limit_cycles != (gint64)LIMIT_CYCLES_DEFAULT)
    plan->limit_cycles = (uint64_t)options->limit_cycles;
  if (!isnan(options->point_seconds))
    plan->point_seconds = options->point_seconds;
  if (options->code_kind != CODE_BEST)
    plan->code = options->code_kind;
}

/* The plan that was frozen beside the file, if no other is named. */
static char *find_frozen(const Options *options) {
  g_autofree char *frozen = options->output ? submission_beside(options->output, SUBMISSION_PLAN) : NULL;
  return !options->rest[0] && frozen && g_file_test(frozen, G_FILE_TEST_EXISTS) ? g_steal_pointer(&frozen) : NULL;
}

Plan *sweep_plan(const Options *options, Diag *diag) {
  g_autofree char *frozen = find_frozen(options);
  const char *first = frozen ? frozen : options->rest[0];
  if (!first)
    return diag_usage(diag, "no plan and no scenario named"), NULL;
  bool is_plan = plan_is_plan(first);
  if (is_plan && !frozen && options->rest[1]) {
    diag_usage(diag, "`%s` is a plan, and a plan stands alone: `%s` is too many", first, options->rest[1]);
    return NULL;
  }
  g_autoptr(Plan) plan = is_plan ? plan_load(first, diag) : plan_new();
  if (!plan)
    return NULL;
  if (!is_plan)
    take_list(((PlanPart *)g_ptr_array_index(plan->parts, 0))->scenarios, options->rest);
  take_machines(plan, options);
  take_limits(plan, options);
  return take_axes(plan, options, diag) && plan_check(plan, diag) ? g_steal_pointer(&plan) : NULL;
}
