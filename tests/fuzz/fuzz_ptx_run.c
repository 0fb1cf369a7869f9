/* Any bytes as a PTX program: its first kernel is launched on a machine with SIMT stacks and on one with convergence
 * barriers, with all detectors, for long enough that a deadlock proof is tried. It must end in a verdict or in
 * messages. */
#include "isa/ptx/ptx_parse.h"
#include "sim/machine/machine.h"
#include "sim/scenario/scenario.h"
#include "sim/study/run.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

/* Four warps run about a warp instruction a cycle at most; the first proof is tried after 5000. */
enum { FUZZ_CYCLES = 20000 };

static const char *const machines[] = {
    "name: stack\ngpu: {compute_capability: 61, sms: 2}\n"
    "sm: {convergence: simt-stack, max_thread_registers: 255}\n",
    "name: barriers\ngpu: {compute_capability: 90, sms: 2}\n"
    "sm: {convergence: barrier, max_thread_registers: 255}\n",
};

static const PtxFunction *first_kernel(const PtxModule *module) {
  for (guint i = 0; i < module->functions->len; i++) {
    const PtxFunction *function = ptx_function(module, i);
    if (function->entry && function->has_body)
      return function;
  }
  return NULL;
}

/* Addresses of the two buffers in turn for what can be one, small numbers for the rest; a struct of bytes isn't
 * filled, and refused. */
static GPtrArray *make_args(const PtxModule *module, const PtxFunction *kernel) {
  static char *const buffers[] = {"a", "b"};
  GPtrArray *args = g_ptr_array_new();
  unsigned addresses = 0;
  for (uint32_t i = 0; i < kernel->nparams; i++) {
    bool address = ptx_var_bytes(ptx_var(module, kernel->first_var + i)) == module->address_size / 8;
    g_ptr_array_add(args, address && addresses < 2 ? buffers[addresses++] : "3");
  }
  g_ptr_array_add(args, NULL);
  return args;
}

static void run_on(const Scenario *scenario, const char *text) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Machine) machine = machine_parse("fuzz.yaml", text, strlen(text), NULL, diag);
  if (!machine)
    abort();
  RunOptions options = run_options_default();
  options.limit_cycles = FUZZ_CYCLES;
  options.races = true;
  g_autoptr(RunResult) result = run_scenario(scenario, machine, &options, diag);
  if (!result != diag_has_errors(diag))
    abort();
  g_free(diag_render(diag));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(PtxModule) module = ptx_parse("fuzz.ptx", (const char *)data, size, diag);
  const PtxFunction *kernel = module ? first_kernel(module) : NULL;
  if (!kernel)
    return 0;
  static const char *const buffers[] = {"a=64", "b=64", NULL};
  g_autoptr(GPtrArray) args = make_args(module, kernel);
  ScenarioOptions launch = {.grid = "2",
                            .block = "64",
                            .shared = "256",
                            .kernel = ptx_module_name(module, kernel->name),
                            .buffers = buffers,
                            .args = (const char *const *)args->pdata};
  g_autoptr(Scenario) scenario = scenario_parse("fuzz.ptx", (const char *)data, size, &launch, diag);
  for (guint i = 0; scenario && i < G_N_ELEMENTS(machines); i++)
    run_on(scenario, machines[i]);
  return 0;
}
