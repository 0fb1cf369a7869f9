/* Any bytes as a listing of machine code. What is accepted has kernels, every instruction prints, and what is printed
 * reads back as the same instruction. */
#include "isa/mc/mc_listing.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check_inst(const McModule *module, const McInst *inst, const McInst *again, const McModule *reread) {
  g_autofree char *left = mc_print_inst(module, inst), *right = mc_print_inst(reread, again);
  if (strcmp(left, right) != 0 || strcmp(inst->name, again->name) != 0 || inst->operands != again->operands)
    abort();
}

/* As cuobjdump prints it. Labels have become addresses and symbols have not, so a call of a symbol is read as one. */
static void check_kernel(const McModule *module, const McKernel *kernel) {
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_append_printf(text, "\tcode for sm_%u\n\t\tFunction : %s\n", kernel->sm, kernel->name);
  for (uint32_t i = 0; i < kernel->insts; i++) {
    g_autofree char *printed = mc_print_inst(module, mc_inst(module, kernel, i));
    g_string_append_printf(text, "/*%04x*/ %s ;\n", i * MC_INST_BYTES, printed);
  }
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(McModule) again = mc_listing_parse("fuzz.sass", text->str, text->len, diag);
  if (!again || again->kernels->len != 1 || mc_kernel(again, 0)->insts != kernel->insts)
    abort();
  for (uint32_t i = 0; i < kernel->insts; i++)
    check_inst(module, mc_inst(module, kernel, i), mc_inst(again, mc_kernel(again, 0), i), again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  g_autoptr(Diag) diag = diag_new();
  mc_is_listing((const char *)data, size);
  g_autoptr(McModule) module = mc_listing_parse("fuzz.sass", (const char *)data, size, diag);
  g_free(diag_render(diag));
  if (!module != diag_has_errors(diag) || (module && module->kernels->len == 0))
    abort();
  for (guint i = 0; module && i < module->kernels->len; i++)
    check_kernel(module, mc_kernel(module, i));
  return 0;
}
