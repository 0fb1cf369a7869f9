#include "sim/study/sweep/part.h"

#include <string.h>

static gpointer copy_text(gconstpointer text, gpointer unused) { return g_strdup(text); }

static AxisPlace copy_place(const AxisPlace *place) {
  AxisPlace copy = *place;
  copy.file = g_strdup(place->file);
  copy.option = g_strdup(place->option);
  return copy;
}

static void free_place(AxisPlace *place) {
  g_free((char *)place->file);
  g_free((char *)place->option);
}

Axis *axis_new(AxisKind kind, const char *name, const AxisPlace *place) {
  Axis *axis = g_new0(Axis, 1);
  axis->kind = kind;
  axis->name = g_strdup(name);
  axis->place = copy_place(place);
  axis->values = g_ptr_array_new_with_free_func(g_free);
  return axis;
}

void axis_free(gpointer data) {
  Axis *axis = data;
  g_free(axis->name);
  free_place(&axis->place);
  g_ptr_array_free(axis->values, TRUE);
  g_free(axis);
}

static gpointer copy_axis(gconstpointer data, gpointer unused) {
  const Axis *axis = data;
  Axis *copy = axis_new(axis->kind, axis->name, &axis->place);
  g_ptr_array_free(copy->values, TRUE);
  copy->values = g_ptr_array_copy(axis->values, (GCopyFunc)(void (*)(void))copy_text, NULL);
  return copy;
}

/* --- names --- */

void plan_part_name(GPtrArray *names, const char *text, const AxisPlace *place) {
  PlanName *name = g_new0(PlanName, 1);
  name->text = g_strdup(text);
  if (place)
    name->place = copy_place(place);
  g_ptr_array_add(names, name);
}

const char *plan_part_text(const GPtrArray *names, guint index) {
  return ((const PlanName *)g_ptr_array_index(names, index))->text;
}

static void free_name(gpointer data) {
  PlanName *name = data;
  g_free(name->text);
  free_place(&name->place);
  g_free(name);
}

static GPtrArray *copy_names(const GPtrArray *names) {
  GPtrArray *copy = g_ptr_array_new_with_free_func(free_name);
  for (guint i = 0; i < names->len; i++) {
    const PlanName *name = g_ptr_array_index(names, i);
    plan_part_name(copy, name->text, &name->place);
  }
  return copy;
}

/* --- parts --- */

PlanPart *plan_part_new(void) {
  PlanPart *part = g_new0(PlanPart, 1);
  part->scenarios = g_ptr_array_new_with_free_func(free_name);
  part->machines = g_ptr_array_new_with_free_func(free_name);
  part->axes = g_ptr_array_new_with_free_func(axis_free);
  return part;
}

void plan_part_free(gpointer data) {
  PlanPart *part = data;
  g_ptr_array_free(part->scenarios, TRUE);
  g_ptr_array_free(part->machines, TRUE);
  g_ptr_array_free(part->axes, TRUE);
  g_free(part);
}

PlanPart *plan_part_copy(const PlanPart *part) {
  PlanPart *copy = g_new0(PlanPart, 1);
  copy->scenarios = copy_names(part->scenarios);
  copy->machines = copy_names(part->machines);
  copy->line = part->line;
  copy->column = part->column;
  copy->axes = g_ptr_array_copy(part->axes, (GCopyFunc)(void (*)(void))copy_axis, NULL);
  return copy;
}

void plan_part_put(PlanPart *part, Axis *axis) {
  guint behind = 0;
  for (guint i = 0; i < part->axes->len; i++) {
    const Axis *other = g_ptr_array_index(part->axes, i);
    if (other->kind == axis->kind && strcmp(other->name, axis->name) == 0) {
      axis_free(g_ptr_array_index(part->axes, i));
      part->axes->pdata[i] = axis;
      return;
    }
    if (other->kind <= axis->kind)
      behind = i + 1;
  }
  g_ptr_array_insert(part->axes, (gint)behind, axis);
}
