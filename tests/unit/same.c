#include "tests/unit/same.h"

#include <string.h>

static bool same_insts(const Inst *a, const Inst *b) {
  Inst x = *a, y = *b;
  x.address = y.address = 0;
  x.line = y.line = 0;
  x.column = y.column = 0;
  return memcmp(&x, &y, sizeof x) == 0;
}

static bool same_kernels(const Kernel *a, const Kernel *b) {
  if (strcmp(a->name, b->name) != 0 || a->ninsts != b->ninsts || a->nregs != b->nregs ||
      a->shared_bytes != b->shared_bytes || a->nconsts != b->nconsts || a->nmarks != b->nmarks)
    return false;
  for (uint32_t i = 0; i < a->ninsts; i++)
    if (!same_insts(&a->insts[i], &b->insts[i]))
      return false;
  for (uint32_t i = 0; i < a->nconsts; i++)
    if (a->consts[i].kind != b->consts[i].kind || a->consts[i].value != b->consts[i].value)
      return false;
  for (uint32_t i = 0; i < a->nmarks; i++)
    if (a->marks[i].pc != b->marks[i].pc || a->marks[i].number != b->marks[i].number)
      return false;
  return true;
}

bool same_program(const Program *a, const Program *b) {
  if (a->dialect != b->dialect || a->target_sm != b->target_sm || a->kernels->len != b->kernels->len ||
      a->launch->len != b->launch->len)
    return false;
  for (guint i = 0; i < a->kernels->len; i++)
    if (!same_kernels(program_kernel(a, i), program_kernel(b, i)))
      return false;
  for (guint i = 0; i < a->launch->len; i++) {
    const LaunchDirective *x = g_ptr_array_index(a->launch, i), *y = g_ptr_array_index(b->launch, i);
    if (strcmp(x->name, y->name) != 0 || strcmp(x->text, y->text) != 0 || x->kernel != y->kernel)
      return false;
  }
  return true;
}

/* -- modules: as bytes, with places taken out and names by their text -- */

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

bool same_module(const PtxModule *a, const PtxModule *b) {
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
