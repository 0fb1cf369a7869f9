/* Any bytes as a bare program, run on the default machine for long enough that a deadlock proof is tried: it must end
 * in a verdict or in messages. */
#include "sim/machine/machine.h"
#include "sim/scenario/scenario.h"
#include "sim/study/run.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_file.h"

enum { FUZZ_CYCLES = 60000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  g_autoptr(Diag) diag = diag_new();
  ScenarioOptions launch = {.grid = "2", .block = "64"};
  g_autoptr(Scenario) scenario = scenario_load(fuzz_file_write("fuzz.sass", data, size), &launch, diag);
  if (!scenario)
    return 0;
  g_autoptr(Machine) machine = machine_new_default();
  RunOptions options = run_options_default();
  options.limit_cycles = FUZZ_CYCLES;
  run_result_free(run_scenario(scenario, machine, &options, diag));
  g_free(diag_render(diag));
  return 0;
}
