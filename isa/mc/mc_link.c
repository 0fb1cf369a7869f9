#include "isa/mc/mc_link.h"

#include <string.h>

typedef struct Linker {
  McModule *module;
  unsigned sm;
  GHashTable *functions; /* interned name -> 1 + index in McModule.kernels, of this architecture */
  GHashTable *taken;     /* the same of those whose address the module takes */
  uint32_t end;          /* above all code that has an address */
} Linker;

static McKernel *kernel_at(const Linker *linker, guint index) {
  return &g_array_index(linker->module->kernels, McKernel, index);
}

static McInst *inst_at(const Linker *linker, const McKernel *kernel, guint index) {
  return &g_array_index(linker->module->insts, McInst, kernel->first_inst + index);
}

static McOperand *operand_at(const Linker *linker, const McInst *inst, guint index) {
  return &g_array_index(linker->module->operands, McOperand, inst->first_operand + index);
}

static bool is_call(const McInst *inst) { return strcmp(inst->root, "CALL") == 0; }

/* A function's address is that of its first instruction. */
static const McKernel *find_function(const Linker *linker, const char *name) {
  guint index = GPOINTER_TO_UINT(g_hash_table_lookup(linker->functions, name));
  return index ? kernel_at(linker, index - 1) : NULL;
}

static uint32_t address_of(const Linker *linker, const McKernel *function) {
  return inst_at(linker, function, 0)->address;
}

/* ---- addresses ---- */

/* RET.ABS and CALL.ABS have no place of their own: they go where a register says. */
static bool is_place(const McInst *inst, const McOperand *operand) {
  return operand->kind == MC_TARGET && !mc_has_modifier(inst, "ABS");
}

static void move_code(Linker *linker, McKernel *function) {
  for (guint i = 0; i < function->insts; i++) {
    McInst *inst = inst_at(linker, function, i);
    inst->address += linker->end;
    for (guint o = 0; o < inst->operands; o++)
      if (is_place(inst, operand_at(linker, inst, o)))
        operand_at(linker, inst, o)->value += linker->end;
  }
  for (guint i = 0; function->targets && i < function->targets->len; i++)
    g_array_index(function->targets, uint32_t, i) += linker->end;
  linker->end += function->insts * MC_INST_BYTES;
}

static void place_functions(Linker *linker) {
  const GArray *kernels = linker->module->kernels;
  for (guint i = 0; i < kernels->len; i++) {
    const McKernel *kernel = kernel_at(linker, i);
    if (kernel->sm == linker->sm && kernel->entry)
      linker->end = MAX(linker->end, kernel->insts * MC_INST_BYTES);
  }
  for (guint i = 0; i < kernels->len; i++) {
    McKernel *kernel = kernel_at(linker, i);
    if (kernel->sm != linker->sm || kernel->entry || !kernel->insts)
      continue;
    g_hash_table_insert(linker->functions, (gpointer)kernel->name, GUINT_TO_POINTER(i + 1));
    move_code(linker, kernel);
  }
}

/* ---- names of functions ---- */

/* A call's target keeps its name, which says what the kernel needs. */
static void resolve_operands(Linker *linker, const McKernel *kernel) {
  for (guint i = 0; i < kernel->insts; i++) {
    const McInst *inst = inst_at(linker, kernel, i);
    for (guint o = 0; o < inst->operands && !is_call(inst); o++) {
      McOperand *operand = operand_at(linker, inst, o);
      const McKernel *function = operand->kind == MC_SYMBOL ? find_function(linker, operand->text) : NULL;
      if (!function)
        continue;
      g_hash_table_add(linker->taken, (gpointer)function->name);
      operand->kind = MC_INTEGER;
      operand->value = operand->part == MC_SYMBOL_HIGH32 ? 0 : address_of(linker, function);
    }
  }
}

static void put_word(McData *data, const McReloc *reloc, uint64_t value) {
  for (guint i = 0; i < reloc->bytes && reloc->offset + i < data->bytes; i++)
    data->data[reloc->offset + i] = (uint8_t)(value >> 8 * i);
}

static void resolve_data(Linker *linker, McData *data) {
  for (guint i = data->relocs ? data->relocs->len : 0; i-- > 0;) {
    const McReloc *reloc = &g_array_index(data->relocs, McReloc, i);
    const McKernel *function = find_function(linker, reloc->symbol);
    if (!function || !data->data)
      continue;
    uint64_t value = reloc->part == MC_SYMBOL_HIGH32 ? 0 : address_of(linker, function) + (uint64_t)reloc->addend;
    put_word(data, reloc, value);
    g_hash_table_add(linker->taken, (gpointer)function->name);
    g_array_remove_index(data->relocs, i);
  }
}

/* ---- what a kernel needs ---- */

typedef struct Needs {
  const Linker *linker;
  GHashTable *known; /* names of functions */
  GArray *functions; /* guint, indices in McModule.kernels */
} Needs;

static void need(Needs *needs, const char *name) {
  guint index = GPOINTER_TO_UINT(g_hash_table_lookup(needs->linker->functions, name));
  if (!index || !g_hash_table_add(needs->known, (gpointer)name))
    return;
  index--;
  g_array_append_val(needs->functions, index);
}

static void need_calls(Needs *needs, const McKernel *kernel) {
  const Linker *linker = needs->linker;
  for (guint i = 0; i < kernel->insts; i++) {
    const McInst *inst = inst_at(linker, kernel, i);
    const McOperand *target = is_call(inst) && inst->operands ? operand_at(linker, inst, 0) : NULL;
    if (target && target->kind == MC_SYMBOL)
      need(needs, target->text);
    if (!target || target->kind != MC_REGISTER || !mc_has_modifier(inst, "ABS"))
      continue;
    GHashTableIter all;
    gpointer name;
    g_hash_table_iter_init(&all, linker->taken);
    while (g_hash_table_iter_next(&all, &name, NULL))
      need(needs, name);
  }
}

static gint by_number(gconstpointer a, gconstpointer b) {
  guint left = *(const guint *)a, right = *(const guint *)b;
  return (left > right) - (left < right);
}

/* ---- one kernel with its functions ---- */

static bool has_table_branch(const Linker *linker, const McKernel *kernel) {
  for (guint i = 0; i < kernel->insts; i++)
    if (g_str_has_prefix(inst_at(linker, kernel, i)->root, "BRX"))
      return true;
  return false;
}

/* Where the places of one table aren't known, those of none are. */
static void add_targets(const Linker *linker, McKernel *kernel, const McKernel *function) {
  if (!has_table_branch(linker, function))
    return;
  bool known = function->targets && (kernel->targets || !has_table_branch(linker, kernel));
  if (!known) {
    g_clear_pointer(&kernel->targets, g_array_unref);
    return;
  }
  if (!kernel->targets)
    kernel->targets = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  g_array_append_vals(kernel->targets, function->targets->data, function->targets->len);
}

static void append_code(GArray *insts, const McKernel *kernel) {
  guint at = insts->len;
  g_array_set_size(insts, at + kernel->insts);
  memcpy(&g_array_index(insts, McInst, at), &g_array_index(insts, McInst, kernel->first_inst),
         kernel->insts * sizeof(McInst));
}

/* ptxas and nvlink count the stack of calls, but not always registers and barriers. */
static void add_function(const Linker *linker, McKernel *kernel, const McKernel *function) {
  append_code(linker->module->insts, function);
  add_targets(linker, kernel, function);
  kernel->insts += function->insts;
  if (kernel->registers >= 0)
    kernel->registers = MAX(kernel->registers, function->registers);
  if (kernel->barriers >= 0)
    kernel->barriers = MAX(kernel->barriers, function->barriers);
}

static void link_kernel(const Linker *linker, McKernel *kernel) {
  Needs needs = {.linker = linker,
                 .known = g_hash_table_new(g_str_hash, g_str_equal),
                 .functions = g_array_new(FALSE, FALSE, sizeof(guint))};
  need_calls(&needs, kernel);
  for (guint i = 0; i < needs.functions->len; i++)
    need_calls(&needs, kernel_at(linker, g_array_index(needs.functions, guint, i)));
  g_array_sort(needs.functions, by_number);
  if (needs.functions->len) {
    guint first = linker->module->insts->len;
    append_code(linker->module->insts, kernel);
    kernel->first_inst = first;
  }
  for (guint i = 0; i < needs.functions->len; i++)
    add_function(linker, kernel, kernel_at(linker, g_array_index(needs.functions, guint, i)));
  g_hash_table_unref(needs.known);
  g_array_unref(needs.functions);
}

/* A call of a function that is there goes to its place; one of another keeps its name. */
static void resolve_calls(Linker *linker, const McKernel *kernel) {
  for (guint i = 0; i < kernel->insts; i++) {
    const McInst *inst = inst_at(linker, kernel, i);
    McOperand *target = is_call(inst) && inst->operands ? operand_at(linker, inst, 0) : NULL;
    const McKernel *function = target && target->kind == MC_SYMBOL ? find_function(linker, target->text) : NULL;
    if (!function)
      continue;
    target->kind = MC_TARGET;
    target->value = address_of(linker, function);
  }
}

/* ---- all ---- */

static void link_architecture(McModule *module, unsigned sm) {
  Linker linker = {.module = module,
                   .sm = sm,
                   .functions = g_hash_table_new(g_str_hash, g_str_equal),
                   .taken = g_hash_table_new(g_str_hash, g_str_equal)};
  place_functions(&linker);
  for (guint i = 0; i < module->kernels->len; i++)
    if (kernel_at(&linker, i)->sm == sm)
      resolve_operands(&linker, kernel_at(&linker, i));
  for (guint i = 0; i < module->data->len; i++)
    resolve_data(&linker, &g_array_index(module->data, McData, i));
  for (guint i = 0; i < module->kernels->len; i++)
    if (kernel_at(&linker, i)->sm == sm && kernel_at(&linker, i)->entry)
      link_kernel(&linker, kernel_at(&linker, i));
  for (guint i = 0; i < module->kernels->len; i++)
    if (kernel_at(&linker, i)->sm == sm)
      resolve_calls(&linker, kernel_at(&linker, i));
  g_hash_table_unref(linker.functions);
  g_hash_table_unref(linker.taken);
}

/* Only what comes from nvdisasm or a cubin names functions, and is of one architecture. */
void mc_link(McModule *module) {
  bool functions = false;
  for (guint i = 0; i < module->kernels->len; i++)
    functions |= !mc_kernel(module, i)->entry && mc_kernel(module, i)->insts;
  if (functions && module->has_data)
    link_architecture(module, mc_kernel(module, 0)->sm);
}
