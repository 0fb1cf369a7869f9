/* Any bytes as a cubin: a module whose instructions print, or errors. */
#include "isa/mc/mc_cubin.h"
#include "isa/mc/mc_listing.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

/* GLib keeps interned strings in a table that grows, and leaves the old one: no leak of ours. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return 1; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  g_autoptr(Diag) diag = diag_new();
  mc_is_cubin(data, size);
  g_autoptr(McModule) module = mc_cubin_read("fuzz.cubin", data, size, diag);
  g_free(diag_render(diag));
  if (!module != diag_has_errors(diag) || (module && module->kernels->len == 0))
    abort();
  for (guint i = 0; module && i < module->insts->len; i++) {
    const McInst *inst = &g_array_index(module->insts, McInst, i);
    if (inst->source_file > module->files->len || inst->inlined > module->frames->len || !inst->encoded)
      abort();
    g_free(mc_print_inst(module, inst));
  }
  return 0;
}
