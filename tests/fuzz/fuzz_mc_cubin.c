/* Any bytes as a cubin, or as a fat binary with some: modules whose instructions print, or errors. */
#include "isa/mc/mc_cubin.h"
#include "isa/mc/mc_fatbin.h"
#include "isa/mc/mc_listing.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

static void read_cubin(const uint8_t *data, size_t size) {
  g_autoptr(Diag) diag = diag_new();
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
}

static void read_fat_binary(const uint8_t *data, size_t size) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(GArray) entries = mc_fatbin_read("fuzz.o", data, size, diag);
  if (!entries != diag_has_errors(diag))
    abort();
  for (guint i = 0; entries && i < entries->len; i++) {
    const McFatEntry *entry = &g_array_index(entries, McFatEntry, i);
    if (!entry->unpacked && (entry->at < data || entry->length > size - (size_t)(entry->at - data)))
      abort();
    if (!entry->problem && !entry->ptx)
      read_cubin(entry->at, entry->length);
    mc_fatbin_choose("fuzz.o", entries, entry->unit, entry->sm, diag);
    mc_fatbin_ptx(entries, entry->unit, entry->sm);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (mc_is_fatbin(data, size))
    read_fat_binary(data, size);
  else
    read_cubin(data, size);
  return 0;
}
