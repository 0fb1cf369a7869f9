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

/* -- comparison: as bytes, with places taken out and names by their text -- */

static bool same_name(const PtxModule *a, const PtxModule *b, uint32_t *x, uint32_t *y) {
  bool same = strcmp(ptx_module_name(a, *x), ptx_module_name(b, *y)) == 0;
  *x = *y = 0;
  return same;
}

static bool same_var(const PtxModule *a, const PtxModule *b, PtxVar x, PtxVar y) {
  x.at = y.at = 0;
  return same_name(a, b, &x.name, &y.name) && memcmp(&x, &y, sizeof x) == 0;
}

static bool same_function(const PtxModule *a, const PtxModule *b, PtxFunction x, PtxFunction y) {
  x.at = y.at = 0;
  return same_name(a, b, &x.name, &y.name) && memcmp(&x, &y, sizeof x) == 0;
}

static bool same_label(const PtxModule *a, const PtxModule *b, PtxLabel x, PtxLabel y) {
  x.at = y.at = 0;
  return same_name(a, b, &x.name, &y.name) && memcmp(&x, &y, sizeof x) == 0;
}

static bool same_table(const PtxModule *a, const PtxModule *b, PtxTable x, PtxTable y) {
  x.at = y.at = 0;
  return same_name(a, b, &x.name, &y.name) && memcmp(&x, &y, sizeof x) == 0;
}

static bool same_loc(const PtxModule *a, const PtxModule *b, PtxLoc x, PtxLoc y) {
  x.at = y.at = 0;
  return same_name(a, b, &x.function_name, &y.function_name) && memcmp(&x, &y, sizeof x) == 0;
}

static bool same_init(const PtxModule *a, const PtxModule *b, PtxInit x, PtxInit y) {
  return memcmp(&x, &y, sizeof x) == 0;
}

static bool same_file(const PtxModule *a, const PtxModule *b, PtxFile x, PtxFile y) {
  return x.number == y.number && strcmp(x.path, y.path) == 0;
}

static bool same_skipped(const PtxModule *a, const PtxModule *b, PtxSkipped x, PtxSkipped y) {
  return x.inst == y.inst && strcmp(x.text, y.text) == 0 && strcmp(x.why, y.why) == 0;
}

static bool same_broken(const PtxModule *a, const PtxModule *b, PtxBroken x, PtxBroken y) {
  return strcmp(x.text, y.text) == 0;
}

static bool same_inst(const PtxModule *a, const PtxModule *b, PtxInst x, PtxInst y) {
  x.at = y.at = 0;
  return memcmp(&x, &y, sizeof x) == 0;
}

static bool same_operand(const PtxModule *a, const PtxModule *b, PtxOperand x, PtxOperand y) {
  x.at = y.at = 0;
  return memcmp(&x, &y, sizeof x) == 0;
}

static bool same_scope(const PtxModule *a, const PtxModule *b, PtxScope x, PtxScope y) {
  return x.parent == y.parent && x.first_inst == y.first_inst && x.end_inst == y.end_inst;
}

/* Compares an array of both modules, element by element. */
#define SAME(array, Type, same_element)                                                            \
  do {                                                                                             \
    if (a->array->len != b->array->len)                                                            \
      return false;                                                                                \
    for (guint i = 0; i < a->array->len; i++)                                                      \
      if (!same_element(a, b, g_array_index(a->array, Type, i), g_array_index(b->array, Type, i))) \
        return false;                                                                              \
  } while (0)

bool ptx_module_equal(const PtxModule *a, const PtxModule *b) {
  if (a->version_major != b->version_major || a->version_minor != b->version_minor || a->target_sm != b->target_sm ||
      a->address_size != b->address_size || strcmp(a->target, b->target) != 0)
    return false;
  SAME(vars, PtxVar, same_var);
  SAME(functions, PtxFunction, same_function);
  SAME(insts, PtxInst, same_inst);
  SAME(operands, PtxOperand, same_operand);
  SAME(labels, PtxLabel, same_label);
  SAME(scopes, PtxScope, same_scope);
  SAME(locs, PtxLoc, same_loc);
  SAME(tables, PtxTable, same_table);
  SAME(inits, PtxInit, same_init);
  SAME(files, PtxFile, same_file);
  SAME(skipped, PtxSkipped, same_skipped);
  SAME(broken, PtxBroken, same_broken);
  return true;
}
