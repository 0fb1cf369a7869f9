/* Any bytes as a machine file; what is accepted must survive its own dump. */
#include "sim/machine/machine.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Machine) machine = machine_parse("fuzz.yaml", (const char *)data, size, NULL, diag);
  g_free(diag_render(diag));
  if (!machine)
    return 0;
  g_autofree char *dump = machine_dump(machine);
  g_autoptr(Diag) again_diag = diag_new();
  g_autoptr(Machine) again = machine_parse("fuzz.yaml", dump, strlen(dump), NULL, again_diag);
  if (!again)
    abort();
  g_autofree char *difference = machine_diff(machine, again);
  if (*difference)
    abort();
  return 0;
}
