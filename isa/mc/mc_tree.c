#include "isa/mc/mc_tree.h"

#include <string.h>

enum { INTERNED_BYTES = 4096 }; /* that the first names take */

static void clear_kernel(gpointer item) {
  McKernel *kernel = item;
  g_clear_pointer(&kernel->params, g_array_unref);
  g_clear_pointer(&kernel->targets, g_array_unref);
  g_clear_pointer(&kernel->starts, g_array_unref);
}

static void clear_data(gpointer item) {
  McData *data = item;
  g_clear_pointer(&data->data, g_free);
  g_clear_pointer(&data->relocs, g_array_unref);
}

McModule *mc_module_new(const char *file) {
  McModule *module = g_new0(McModule, 1);
  module->file = g_strdup(file);
  module->kernels = g_array_new(FALSE, TRUE, sizeof(McKernel));
  g_array_set_clear_func(module->kernels, clear_kernel);
  module->insts = g_array_new(FALSE, FALSE, sizeof(McInst));
  module->operands = g_array_new(FALSE, FALSE, sizeof(McOperand));
  module->files = g_ptr_array_new_with_free_func(g_free);
  module->frames = g_array_new(FALSE, FALSE, sizeof(McFrame));
  module->data = g_array_new(FALSE, TRUE, sizeof(McData));
  g_array_set_clear_func(module->data, clear_data);
  module->symbols = g_array_new(FALSE, TRUE, sizeof(McSymbol));
  module->interned = g_string_chunk_new(INTERNED_BYTES);
  return module;
}

void mc_module_free(McModule *module) {
  if (!module)
    return;
  g_free(module->file);
  g_array_unref(module->kernels);
  g_array_unref(module->insts);
  g_array_unref(module->operands);
  g_ptr_array_unref(module->files);
  g_array_unref(module->frames);
  g_array_unref(module->data);
  g_array_unref(module->symbols);
  g_string_chunk_free(module->interned);
  g_free(module);
}

const char *mc_module_intern(McModule *module, const char *text) {
  return g_string_chunk_insert_const(module->interned, text);
}

bool mc_has_modifier(const McInst *inst, const char *modifier) {
  for (guint i = 0; i < MC_MODIFIERS_MAX && inst->modifiers[i]; i++)
    if (strcmp(inst->modifiers[i], modifier) == 0)
      return true;
  return false;
}

const McSymbol *mc_find_symbol(const McModule *module, const char *name) {
  for (guint i = 0; i < module->symbols->len; i++) {
    const McSymbol *symbol = &g_array_index(module->symbols, McSymbol, i);
    if (strcmp(symbol->name, name) == 0)
      return symbol;
  }
  return NULL;
}

const McData *mc_find_data(const McModule *module, const char *section) {
  for (guint i = 0; i < module->data->len; i++) {
    const McData *data = &g_array_index(module->data, McData, i);
    if (strcmp(data->section, section) == 0)
      return data;
  }
  return NULL;
}
