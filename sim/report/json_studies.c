#include "sim/report/json_studies.h"

#include <math.h>

#include "sim/report/json_fields.h"

/* ---- tune ---- */

static void add_values(JsonBuilder *builder, const GArray *axes, const TunePoint *point) {
  json_builder_set_member_name(builder, "values");
  json_builder_begin_object(builder);
  for (guint i = 0; i < axes->len; i++)
    json_add_int(builder, g_array_index(axes, TuneAxis, i).name, point->value[i]);
  json_builder_end_object(builder);
}

static void add_point(JsonBuilder *builder, const GArray *axes, const TunePoint *point, bool of_grid) {
  bool completed = !isinf(point->mean);
  json_builder_begin_object(builder);
  add_values(builder, axes, point);
  json_add_bool(builder, "completed", completed);
  json_add_double(builder, "mean_microseconds", completed ? point->mean : NAN);
  json_add_double(builder, "lowest_microseconds", completed ? point->lowest : NAN);
  json_add_double(builder, "highest_microseconds", completed ? point->highest : NAN);
  json_add_double(builder, "compared_microseconds", completed ? point->cost : NAN);
  json_add_bool(builder, "of_grid", of_grid);
  json_add_string(builder, "problem", point->problem);
  json_builder_end_object(builder);
}

char *json_tune(const Tuned *tuned, const GArray *axes, const char *scenario, const char *machine,
                const Changes *changes, unsigned seeds) {
  JsonBuilder *builder = json_start();
  const TunePoint *best = &g_array_index(tuned->points, TunePoint, tuned->best);
  json_add_string(builder, "scenario", scenario);
  json_add_string(builder, "machine", machine);
  json_add_changes(builder, changes);
  json_add_int(builder, "seeds", seeds);
  json_builder_set_member_name(builder, "best");
  add_point(builder, axes, best, tuned->best < tuned->grid);
  json_add_double(builder, "own_microseconds", tuned->plain);
  json_add_double(builder, "own_compared_microseconds", tuned->plain_cost);
  json_begin_array(builder, "points");
  for (guint i = 0; i < tuned->points->len; i++)
    add_point(builder, axes, &g_array_index(tuned->points, TunePoint, i), i < tuned->grid);
  json_builder_end_array(builder);
  return json_finish(builder);
}

/* ---- sensitivity ---- */

static void add_elasticity(JsonBuilder *builder, const Elasticity *row, const Machine *machine) {
  g_autofree char *value = machine_param_text(machine, row->param);
  bool known = !row->problem;
  json_builder_begin_object(builder);
  json_add_string(builder, "parameter", machine_param_path(row->param));
  json_add_string(builder, "value", value);
  json_add_string(builder, "lower", row->lower);
  json_add_string(builder, "higher", row->higher);
  json_add_double(builder, "elasticity", known ? row->mean : NAN);
  json_add_double(builder, "elasticity_lowest", known ? row->lowest : NAN);
  json_add_double(builder, "elasticity_highest", known ? row->highest : NAN);
  json_add_string(builder, "source", machine->sources[row->param]);
  json_add_string(builder, "problem", row->problem);
  json_builder_end_object(builder);
}

char *json_sensitivity(const Sensitivity *found, const Machine *machine, const char *scenario, double by,
                       const Changes *changes, unsigned seeds) {
  JsonBuilder *builder = json_start();
  json_add_string(builder, "scenario", scenario);
  json_add_string(builder, "machine", machine->name);
  json_add_changes(builder, changes);
  json_add_int(builder, "seeds", seeds);
  json_add_double(builder, "by_percent", by);
  json_add_int(builder, "runs", found->runs);
  json_add_double(builder, "base_microseconds", found->base);
  json_begin_array(builder, "rows");
  for (guint i = 0; i < found->rows->len; i++)
    add_elasticity(builder, &g_array_index(found->rows, Elasticity, i), machine);
  json_builder_end_array(builder);
  return json_finish(builder);
}

/* ---- rank --primitives ---- */

static void add_contest(JsonBuilder *builder, const Contest *contest) {
  double margin = contest_margin(contest);
  json_builder_begin_object(builder);
  json_add_string(builder, "kind", primitive_kind_name(contest->kind));
  json_add_int(builder, "blocks", contest->blocks);
  json_add_double(builder, "margin", isinf(margin) ? NAN : margin);
  json_begin_array(builder, "primitives");
  for (guint i = 0; i < contest->contenders->len; i++) {
    const Contender *contender = &g_array_index(contest->contenders, Contender, i);
    json_builder_begin_object(builder);
    json_add_string(builder, "primitive", contender->name);
    json_add_double(builder, "operations_per_second", contender->rate > 0 ? contender->rate : NAN);
    json_add_string(builder, "problem", contender->problem);
    json_builder_end_object(builder);
  }
  json_builder_end_array(builder);
  json_builder_end_object(builder);
}

char *json_primitives(const GPtrArray *contests, const Machine *machine, const Changes *changes, unsigned seeds) {
  JsonBuilder *builder = json_start();
  json_add_string(builder, "machine", machine->name);
  json_add_changes(builder, changes);
  json_add_int(builder, "seeds", seeds);
  json_begin_array(builder, "contests");
  for (guint i = 0; i < contests->len; i++)
    add_contest(builder, g_ptr_array_index(contests, i));
  json_builder_end_array(builder);
  return json_finish(builder);
}
