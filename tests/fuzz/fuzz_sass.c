/* Any bytes as a SASS program. What is accepted must print and parse back to the same program, the second print must
 * be the first, and the analyses must cope with whatever control flow came out. */
#include "isa/disasm.h"
#include "isa/flow/cfg.h"
#include "isa/sass/sass.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/same.h"

#include <stdlib.h>
#include <string.h>

static void check_print(const Program *program) {
  g_autofree char *printed = disasm_program(program);
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Program) again = sass_parse("fuzz.sass", printed, strlen(printed), diag);
  if (!again || !same_program(program, again))
    abort();
  g_autofree char *reprinted = disasm_program(again);
  if (strcmp(printed, reprinted) != 0)
    abort();
}

static void check_graph(const Kernel *kernel) {
  g_autoptr(Cfg) cfg = cfg_new(kernel);
  for (guint b = 0; b < cfg->blocks->len; b++) {
    const CfgBlock *block = g_ptr_array_index(cfg->blocks, b);
    if (block->first > block->last || cfg->block_of[block->first] != b || block->ipdom == (int32_t)b)
      abort();
  }
  Liveness live = cfg_liveness(kernel);
  liveness_clear(&live);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Program) program = sass_parse("fuzz.sass", (const char *)data, size, diag);
  g_free(diag_render(diag));
  if (!program && !diag_has_errors(diag))
    abort();
  if (!program)
    return 0;
  check_print(program);
  for (guint i = 0; i < program->kernels->len; i++) {
    g_free(cfg_dot(program, program_kernel(program, i)));
    check_graph(program_kernel(program, i));
  }
  return 0;
}
