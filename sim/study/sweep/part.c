#include "sim/study/sweep/part.h"

#include <string.h>

static gpointer copy_text(gconstpointer text, gpointer unused) { return g_strdup(text); }

Axis *axis_new(AxisKind kind, const char *name, const AxisPlace *place) {
  Axis *axis = g_new0(Axis, 1);
  axis->kind = kind;
  axis->name = g_strdup(name);
  axis->place = *place;
  axis->place.file = g_strdup(place->file);
  axis->place.option = g_strdup(place->option);
  axis->values = g_ptr_array_new_with_free_func(g_free);
  return axis;
}

void axis_free(gpointer data) {
  Axis *axis = data;
  g_free(axis->name);
  g_free((char *)axis->place.file);
  g_free((char *)axis->place.option);
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

PlanPart *plan_part_new(void) {
  PlanPart *part = g_new0(PlanPart, 1);
  part->scenarios = g_ptr_array_new_with_free_func(g_free);
  part->machines = g_ptr_array_new_with_free_func(g_free);
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
  copy->scenarios = g_ptr_array_copy(part->scenarios, (GCopyFunc)(void (*)(void))copy_text, NULL);
  copy->machines = g_ptr_array_copy(part->machines, (GCopyFunc)(void (*)(void))copy_text, NULL);
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
