/* Any bytes as a PTX program. What is accepted must print and parse back to the same tree, and the second print must
 * be the first. It is lowered for a machine with SIMT stacks and for one with convergence barriers: to a program,
 * whose kernels can run or are refused, or to errors. */
#include "isa/lower/ptx_lower.h"
#include "isa/ptx/ptx_parse.h"
#include "isa/ptx/ptx_print.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/same.h"

#include <stdlib.h>
#include <string.h>

static void check_print(const PtxModule *module) {
  g_autofree char *printed = ptx_print_module(module);
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(PtxModule) again = ptx_parse("fuzz.ptx", printed, strlen(printed), diag);
  if (!again || !same_module(module, again))
    abort();
  g_autofree char *reprinted = ptx_print_module(again);
  if (strcmp(printed, reprinted) != 0)
    abort();
}

static void check_kernel(const Kernel *kernel) {
  if (!kernel->refusal != (kernel->ninsts > 0) || (kernel->refusal && !diag_has_errors(kernel->refusal)))
    abort();
}

static void check_lowered(const PtxModule *module) {
  static const PtxTarget targets[] = {
      {.capability = 61, .max_registers = 255},
      {.capability = 90, .convergence_barriers = true, .max_registers = 255},
  };
  for (guint i = 0; i < G_N_ELEMENTS(targets); i++) {
    g_autoptr(Diag) diag = diag_new();
    g_autoptr(Program) program = ptx_lower(module, &targets[i], diag);
    g_free(diag_render(diag));
    if (!program != diag_has_errors(diag) || (program && program->kernels->len == 0))
      abort();
    for (guint k = 0; program && k < program->kernels->len; k++)
      check_kernel(program_kernel(program, k));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(PtxModule) module = ptx_parse("fuzz.ptx", (const char *)data, size, diag);
  g_free(diag_render(diag));
  if (!module && !diag_has_errors(diag))
    abort();
  if (module) {
    check_print(module);
    check_lowered(module);
  }
  return 0;
}
