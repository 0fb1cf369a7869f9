#include "sim/scenario/scenario.h"

#include <string.h>

#include "sim/memory/heap.h"
#include "sim/scenario/machine_runs.h"
#include "sim/scenario/programs.h"

static void free_buffer(gpointer data) {
  ScenarioBuffer *buffer = data;
  g_free(buffer->name);
  g_free(buffer->init);
  g_clear_pointer(&buffer->addresses, g_array_unref);
  g_free(buffer);
}

static void free_launch(gpointer data) {
  ScenarioLaunch *launch = data;
  for (guint i = 0; i < launch->args->len; i++) {
    g_clear_pointer(&g_array_index(launch->args, ScenarioArg, i).bytes, g_bytes_unref);
    g_clear_pointer(&g_array_index(launch->args, ScenarioArg, i).addresses, g_array_unref);
  }
  g_array_free(launch->args, TRUE);
  g_free(launch->file);
  g_free(launch);
}

static void free_expectation(gpointer data) {
  expectation_clear(data);
  g_free(data);
}

/* "spin" of "locks/spin.yaml". */
static char *stem(const char *path) {
  char *name = g_path_get_basename(path);
  char *dot = strrchr(name, '.');
  if (dot && dot != name)
    *dot = '\0';
  return name;
}

Scenario *scenario_new(const char *file) {
  Scenario *scenario = g_new0(Scenario, 1);
  scenario->name = stem(file);
  scenario->file = g_strdup(file);
  scenario->buffers = g_ptr_array_new_with_free_func(free_buffer);
  scenario->launches = g_ptr_array_new_with_free_func(free_launch);
  scenario->machines = g_new0(char *, 1);
  scenario->params = g_new0(char *, 1);
  scenario->heap_bytes = HEAP_BYTES_DEFAULT;
  scenario->expect_on = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_expectation);
  return scenario;
}

void scenario_free(Scenario *scenario) {
  if (!scenario)
    return;
  g_free(scenario->name);
  g_free(scenario->file);
  g_free(scenario->about);
  g_ptr_array_free(scenario->buffers, TRUE);
  g_ptr_array_free(scenario->launches, TRUE);
  if (scenario->host)
    g_array_unref(scenario->host);
  g_strfreev(scenario->machines);
  g_strfreev(scenario->params);
  g_free(scenario->digest);
  expectation_clear(&scenario->expect);
  g_hash_table_destroy(scenario->expect_on);
  programs_free(scenario->programs);
  g_free(scenario);
}

bool scenario_is_yaml(const char *path) {
  return programs_has_ending(path, ".yaml") || programs_has_ending(path, ".yml");
}
bool scenario_is_program(const char *path) {
  return programs_has_ending(path, ".sass") || programs_has_ending(path, ".ptx") ||
         programs_has_ending(path, ".cu") || programs_has_ending(path, ".cubin");
}

bool scenario_launch_runs(const Scenario *scenario, const Program *program, guint index, Diag *diag) {
  const ScenarioLaunch *launch = g_ptr_array_index(scenario->launches, index);
  const Diag *refusal = program_kernel(program, launch->kernel)->refusal;
  for (guint i = 0; refusal && i < index; i++)
    if (((const ScenarioLaunch *)g_ptr_array_index(scenario->launches, i))->kernel == launch->kernel)
      return false;
  if (refusal)
    diag_add_all(diag, refusal);
  return !refusal;
}

static const Kernel *launch_kernel(const Scenario *scenario, const Program *program, guint index) {
  return program_kernel(program, ((const ScenarioLaunch *)g_ptr_array_index(scenario->launches, index))->kernel);
}

bool scenario_launch_may_run(const Scenario *scenario, guint index, Diag *diag) {
  return (programs_may_run_code(scenario->programs) &&
          !launch_kernel(scenario, scenario->program, index)->params_lost) ||
         scenario_launch_runs(scenario, scenario->program, index, diag);
}

static const Program *with_launches(const Scenario *scenario, const Machine *machine, const Program *program,
                                    Diag *diag) {
  bool good = program != NULL;
  for (guint i = 0; program && i < scenario->launches->len; i++)
    good &= scenario_launch_runs(scenario, program, i, diag) &&
            machine_runs_kernel(machine, program, launch_kernel(scenario, program, i), diag);
  return good ? program : NULL;
}

/* Which kernels of its program are launched: those are lowered. */
static bool *launched(const Scenario *scenario) {
  bool *kernels = g_new0(bool, scenario->program->kernels->len);
  for (guint i = 0; i < scenario->launches->len; i++)
    kernels[((const ScenarioLaunch *)g_ptr_array_index(scenario->launches, i))->kernel] = true;
  return kernels;
}

const Program *scenario_program(const Scenario *scenario, const Machine *machine, Diag *diag) {
  g_autofree bool *wanted = launched(scenario);
  return with_launches(scenario, machine, programs_for(scenario->programs, machine, wanted, diag), diag);
}

const Program *scenario_source(const Scenario *scenario, const Machine *machine, Diag *diag) {
  g_autofree bool *wanted = launched(scenario);
  return with_launches(scenario, machine, programs_source_for(scenario->programs, machine, wanted, diag), diag);
}
