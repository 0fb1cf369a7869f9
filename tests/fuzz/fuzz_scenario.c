/* Any bytes as a scenario; it may name the program `p.sass`. */
#include "sim/scenario/scenario.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  g_autoptr(Diag) diag = diag_new();
  scenario_free(scenario_load(fuzz_file_write("fuzz.yaml", data, size), NULL, diag));
  g_free(diag_render(diag));
  return 0;
}
