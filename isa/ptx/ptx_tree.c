#include "isa/ptx/ptx_tree.h"

#include <string.h>

#include "isa/scanner.h"

static void clear_file(gpointer data) { g_free(((PtxFile *)data)->path); }

static void clear_skipped(gpointer data) {
  g_free(((PtxSkipped *)data)->text);
  g_free(((PtxSkipped *)data)->why);
}

static void clear_broken(gpointer data) {
  g_free(((PtxBroken *)data)->text);
  diag_free(((PtxBroken *)data)->errors);
}

PtxModule *ptx_module_new(const char *file) {
  PtxModule *module = g_new0(PtxModule, 1);
  module->file = g_strdup(file);
  module->address_size = 32; /* what PTX has without `.address_size` */
  module->names = ptx_names_new();
  module->ops = ptx_ops_new();
  module->line_starts = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  module->vars = g_array_new(FALSE, TRUE, sizeof(PtxVar));
  module->functions = g_array_new(FALSE, TRUE, sizeof(PtxFunction));
  module->insts = g_array_new(FALSE, TRUE, sizeof(PtxInst));
  module->operands = g_array_new(FALSE, TRUE, sizeof(PtxOperand));
  module->labels = g_array_new(FALSE, TRUE, sizeof(PtxLabel));
  module->scopes = g_array_new(FALSE, TRUE, sizeof(PtxScope));
  module->locs = g_array_new(FALSE, TRUE, sizeof(PtxLoc));
  module->tables = g_array_new(FALSE, TRUE, sizeof(PtxTable));
  module->inits = g_array_new(FALSE, TRUE, sizeof(PtxInit));
  module->files = g_array_new(FALSE, TRUE, sizeof(PtxFile));
  g_array_set_clear_func(module->files, clear_file);
  module->skipped = g_array_new(FALSE, TRUE, sizeof(PtxSkipped));
  g_array_set_clear_func(module->skipped, clear_skipped);
  module->broken = g_array_new(FALSE, TRUE, sizeof(PtxBroken));
  g_array_set_clear_func(module->broken, clear_broken);
  return module;
}

void ptx_module_free(PtxModule *module) {
  if (!module)
    return;
  GArray *arrays[] = {module->line_starts, module->vars,    module->functions, module->insts,  module->operands,
                      module->labels,      module->scopes,  module->locs,      module->tables, module->inits,
                      module->files,       module->skipped, module->broken};
  for (unsigned i = 0; i < G_N_ELEMENTS(arrays); i++)
    g_array_free(arrays[i], TRUE);
  ptx_names_free(module->names);
  ptx_ops_free(module->ops);
  g_free(module->target);
  g_free(module->file);
  g_free(module);
}

void ptx_module_place(const PtxModule *module, uint32_t at, unsigned *line, unsigned *column) {
  scanner_place(module->line_starts, at, line, column);
}

const char *ptx_module_name(const PtxModule *module, uint32_t name) { return ptx_names_text(module->names, name); }

const char *ptx_module_file(const PtxModule *module, uint32_t number) {
  for (guint i = 0; i < module->files->len; i++) {
    const PtxFile *file = &g_array_index(module->files, PtxFile, i);
    if (file->number == number)
      return file->path;
  }
  return NULL;
}

uint32_t ptx_module_register(const PtxModule *module, const PtxFunction *function, uint32_t number) {
  uint32_t low = function->first_var, high = low + function->nvars;
  while (high - low > 1) { /* the last variable with a base of at most `number` is the one */
    uint32_t middle = low + (high - low) / 2;
    if (ptx_var(module, middle)->base <= number)
      low = middle;
    else
      high = middle;
  }
  return low;
}

uint64_t ptx_var_bytes(const PtxVar *var) {
  unsigned lanes = var->vec == PTX_V4 ? 4 : var->vec == PTX_V2 ? 2 : 1;
  return (uint64_t)var->elements * ptx_type_bytes((PtxWord)var->type) * lanes;
}
