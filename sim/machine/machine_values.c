/* Machines as values: new, copied, changed by hand; the parameters of one by number. */
#include "sim/machine/machine.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/datadir.h"
#include "base/quote.h"
#include "sim/machine/params.h"

Machine *machine_new_default(void) {
  Machine *machine = g_new0(Machine, 1);
  machine->name = g_strdup("default");
  machine->about = g_strdup("");
  machine->file = g_strdup("");
  machine->sources = g_new0(char *, PARAM_COUNT);
  for (unsigned i = 0; i < PARAM_COUNT; i++)
    param_set(machine, param_at(i), param_at(i)->dflt);
  return machine;
}

void machine_free(Machine *machine) {
  if (!machine)
    return;
  for (unsigned i = 0; i < PARAM_COUNT; i++)
    g_free(machine->sources[i]);
  g_free(machine->sources);
  g_free(machine->name);
  g_free(machine->about);
  g_free(machine->file);
  g_free(machine);
}

Machine *machine_copy(const Machine *machine) {
  Machine *copy = g_memdup2(machine, sizeof *machine);
  copy->name = g_strdup(machine->name);
  copy->about = g_strdup(machine->about);
  copy->file = g_strdup(machine->file);
  copy->sources = g_new0(char *, PARAM_COUNT);
  for (unsigned i = 0; i < PARAM_COUNT; i++)
    copy->sources[i] = g_strdup(machine->sources[i]);
  return copy;
}

/* `lock_unit.bits` is meant to be sm.lock_unit.bits: the only path that ends so. */
static const char *find_by_ending(const char *found) {
  g_autofree char *ending = g_strconcat(".", found, NULL);
  const char *only = NULL;
  for (unsigned i = 0; i < PARAM_COUNT; i++) {
    if (!g_str_has_suffix(param_at(i)->path, ending))
      continue;
    if (only)
      return NULL;
    only = param_at(i)->path;
  }
  return only;
}

static void hint_path(Diag *diag, const char *found) {
  const char *paths[PARAM_COUNT + 1] = {NULL};
  for (unsigned i = 0; i < PARAM_COUNT; i++)
    paths[i] = param_at(i)->path;
  const char *meant = find_by_ending(found);
  if (meant)
    diag_hint(diag, "did you mean `%s`?", meant);
  else
    diag_hint_nearest(diag, found, paths);
}

static bool refuse_path(const char *path, Diag *diag) {
  g_autofree char *quoted = quote_text(path);
  const Param *section = param_find(path);
  if (section)
    return diag_usage(diag, "%s is a section of parameters; set one of them", quoted);
  diag_usage(diag, "unknown parameter %s", quoted);
  hint_path(diag, path);
  return false;
}

bool machine_set(Machine *machine, const char *path, const char *value, Diag *diag) {
  const Param *param = param_find(path);
  if (!param || param->kind == PARAM_SECTION)
    return refuse_path(path, diag);
  g_autofree char *problem = param_parse(machine, param, value);
  if (problem) {
    diag_usage(diag, "%s", problem);
    if (param->kind == PARAM_ENUM)
      diag_hint_nearest(diag, value, param->choices);
    return false;
  }
  char **source = &machine->sources[param_index(param)];
  g_free(*source);
  *source = g_strdup("set by hand (-s)");
  return true;
}

static int compare_names(gconstpointer a, gconstpointer b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

char **machine_list(void) {
  g_autofree char *folder = datadir_join("configs", NULL);
  GPtrArray *names = g_ptr_array_new();
  GDir *dir = g_dir_open(folder, 0, NULL);
  const char *file;
  while (dir && (file = g_dir_read_name(dir)))
    if (g_str_has_suffix(file, ".yaml") && file[0] != '.')
      g_ptr_array_add(names, g_strndup(file, strlen(file) - strlen(".yaml")));
  if (dir)
    g_dir_close(dir);
  g_ptr_array_sort(names, compare_names);
  g_ptr_array_add(names, NULL);
  return (char **)g_ptr_array_free(names, FALSE);
}

unsigned machine_param_count(void) { return PARAM_COUNT; }

const char *machine_param_path(unsigned index) { return param_at(index)->path; }

char *machine_param_text(const Machine *machine, unsigned index) {
  return param_format(param_at(index), param_get(machine, param_at(index)));
}

bool machine_param_number(const Machine *machine, unsigned index, double *value) {
  *value = param_get(machine, param_at(index));
  return param_at(index)->kind != PARAM_ENUM;
}

/* How many values of a parameter there are between two whole numbers. */
static double param_fineness(const Param *param) { return param->kind == PARAM_MILLI ? MILLI_CYCLE : 1; }

char *machine_param_scaled(const Machine *machine, unsigned index, double factor) {
  const Param *param = param_at(index);
  double value, fineness = param_fineness(param);
  if (!machine_param_number(machine, index, &value) || value == 0)
    return NULL;
  double steps = round(value * factor * fineness);
  if (steps == round(value * fineness))
    steps += factor > 1 ? 1 : -1;
  double scaled = CLAMP(steps / fineness, param->min, param->max);
  return scaled > 0 && scaled != value ? param_format(param, scaled) : NULL;
}
