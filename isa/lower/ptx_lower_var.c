/* Variables: those of the module with their initial values, shared memory, parameters of a kernel. */
#include <string.h>

#include "isa/lower/ptx_lower_state.h"

enum { INIT_BYTES_MAX = 256 << 20 /* of all variables with initial values */ };
static const uint64_t variable_bytes_max = SHARED_WINDOW;

static uint32_t align_up(uint32_t at, uint32_t align) { return align > 1 ? (at + align - 1) / align * align : at; }

static const char *var_name(const Lower *lower, const PtxVar *var) {
  return ptx_module_name(lower->module, var->name);
}

static uint32_t var_align(const PtxVar *var) { return MAX(var->align, ptx_type_bytes((PtxWord)var->type)); }

/* -- which variables the program has -- */

/* Those that a kernel names or whose addresses they hold, and visible ones, which a scenario may ask for. */
static void mark_used(Lower *lower, GArray *work, uint32_t var) {
  uint8_t space = ptx_var(lower->module, var)->space;
  if ((space != PTX_GLOBAL && space != PTX_CONST) || lower->symbol[var])
    return;
  lower->symbol[var] = PTX_NO_INDEX;
  g_array_append_val(work, var);
}

static void mark_all(Lower *lower) {
  const PtxModule *module = lower->module;
  g_autoptr(GArray) work = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  for (guint f = 0; f < module->functions->len; f++)
    for (guint i = 0; lower->functions[f].vars && i < lower->functions[f].vars->len; i++)
      mark_used(lower, work, g_array_index(lower->functions[f].vars, uint32_t, i));
  for (guint i = 0; i < module->vars->len; i++)
    if (ptx_var(module, i)->linkage == PTX_LINK_VISIBLE)
      mark_used(lower, work, i);
  while (work->len) {
    const PtxVar *var = ptx_var(module, g_array_index(work, uint32_t, work->len - 1));
    g_array_set_size(work, work->len - 1);
    for (uint32_t i = 0; i < var->ninits; i++) {
      const PtxInit *init = ptx_init(module, var->first_init + i);
      if (init->kind == PTX_INIT_VAR || init->kind == PTX_INIT_VAR_GENERIC)
        mark_used(lower, work, init->symbol);
    }
  }
}

/* -- initial values -- */

static void put_bytes(uint32_t *words, uint64_t byte, uint64_t bits, unsigned count) {
  for (unsigned i = 0; i < count; i++, bits >>= 8)
    words[(byte + i) / 4] |= (uint32_t)(bits & 0xff) << ((byte + i) % 4 * 8);
}

static bool add_reloc(Lower *lower, ProgramVariable *variable, const PtxVar *var, const PtxInit *init,
                      uint64_t byte) {
  const PtxVar *other = ptx_var(lower->module, init->symbol);
  if (other->space != PTX_GLOBAL && other->space != PTX_CONST)
    return lower_error(lower, var->at, "the address of the `.%s` variable `%s` as an initial value isn't supported",
                       ptx_word_text((PtxWord)other->space), var_name(lower, other));
  if (byte % 4)
    return lower_error(lower, var->at, "an address that isn't aligned to 4 bytes isn't supported in `%s`",
                       var_name(lower, var));
  if (!variable->relocs)
    variable->relocs = g_array_new(FALSE, FALSE, sizeof(ProgramReloc));
  ProgramReloc reloc = {(uint32_t)(byte / 4), lower->symbol[init->symbol] - 1, init->offset};
  g_array_append_val(variable->relocs, reloc);
  return true;
}

/* Byte `init->byte` of an address: byte 0 stands for all of it, the others have to follow it one by one. */
static bool add_masked(Lower *lower, ProgramVariable *variable, const PtxVar *var, uint32_t index, uint64_t byte) {
  const PtxInit *init = ptx_init(lower->module, var->first_init + index), *before = init - 1;
  if (init->byte == 0)
    return add_reloc(lower, variable, var, init, byte);
  bool follows = index > 0 && before->kind == init->kind && before->symbol == init->symbol &&
                 before->offset == init->offset && before->byte + 1 == init->byte &&
                 before->element + 1 == init->element;
  return follows || lower_error(lower, var->at,
                                "part of an address isn't supported in `%s`: all its bytes have to be "
                                "there, from the lowest on",
                                var_name(lower, var));
}

static bool add_init(Lower *lower, ProgramVariable *variable, const PtxVar *var, uint32_t index) {
  const PtxInit *init = ptx_init(lower->module, var->first_init + index);
  unsigned bytes = ptx_type_bytes((PtxWord)var->type);
  uint64_t byte = (uint64_t)init->element * bytes;
  if (byte + bytes > variable->bytes)
    return lower_error(lower, var->at, "`%s` has more values than elements", var_name(lower, var));
  if (init->kind == PTX_INIT_BITS)
    put_bytes(variable->init, byte, init->bits, bytes);
  else if (init->kind == PTX_INIT_FUNCTION)
    put_bytes(variable->init, byte, (uint64_t)init->symbol + 1, init->byte == PTX_INIT_WHOLE ? bytes : 0);
  else if (init->byte != PTX_INIT_WHOLE)
    return add_masked(lower, variable, var, index, byte);
  else if (bytes < 4)
    return lower_error(lower, var->at, "`%s` is too narrow for an address", var_name(lower, var));
  else
    return add_reloc(lower, variable, var, init, byte);
  return true;
}

/* -- Program.variables -- */

/* A variable of a function may have a name that another has, too. */
static char *unique_name(const Lower *lower, GHashTable *names, const PtxVar *var) {
  char *name = g_strdup(var_name(lower, var));
  for (unsigned i = 2; g_hash_table_contains(names, name); i++) {
    g_free(name);
    name = g_strdup_printf("%s$%u", var_name(lower, var), i);
  }
  g_hash_table_add(names, g_strdup(name));
  return name;
}

static void add_variable(Lower *lower, GHashTable *names, uint32_t index, uint64_t *init_bytes) {
  const PtxVar *var = ptx_var(lower->module, index);
  uint64_t bytes = ptx_var_bytes(var);
  ProgramVariable *variable = g_new0(ProgramVariable, 1);
  variable->name = unique_name(lower, names, var);
  variable->constant = var->space == PTX_CONST;
  variable->bytes = (uint32_t)bytes;
  variable->align = var_align(var);
  g_ptr_array_add(lower->program->variables, variable);
  *init_bytes += var->ninits ? bytes : 0;
  if (bytes > variable_bytes_max || *init_bytes > INIT_BYTES_MAX) {
    lower_error(lower, var->at,
                bytes > variable_bytes_max ? "a variable of more than 3.5 GiB isn't supported"
                                           : "initial values of more than 256 MiB aren't supported");
    return;
  }
  if (var->ninits)
    variable->init = g_new0(uint32_t, (bytes + 3) / 4);
  for (uint32_t i = 0; i < var->ninits; i++)
    if (!add_init(lower, variable, var, i))
      return;
}

void lower_variables(Lower *lower) {
  g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  uint32_t count = 0;
  uint64_t init_bytes = 0;
  mark_all(lower);
  for (guint i = 0; i < lower->module->vars->len; i++)
    if (lower->symbol[i])
      lower->symbol[i] = ++count;
  for (guint i = 0; i < lower->module->vars->len; i++)
    if (lower->symbol[i])
      add_variable(lower, names, i, &init_bytes);
}

/* -- shared memory -- */

static void gather_shared(Lower *lower, uint32_t kernel, uint32_t function, GArray *found, GHashTable *seen,
                          bool *names_reserved) {
  LowerFunction *info = &lower->functions[function];
  if (info->kernel == kernel + 1)
    return;
  info->kernel = kernel + 1;
  if (diag_has_errors(info->errors)) {
    diag_add_all(lower->diag, info->errors);
    lower->failed = true;
  }
  if (info->height > LOWER_DEPTH_MAX || info->state == SCAN_NEW)
    return; /* calls are nested too deep */
  *names_reserved |= info->names_reserved;
  for (guint i = 0; i < info->vars->len; i++) {
    uint32_t var = g_array_index(info->vars, uint32_t, i);
    if (ptx_var(lower->module, var)->space == PTX_SHARED && g_hash_table_add(seen, GSIZE_TO_POINTER((gsize)var + 1)))
      g_array_append_val(found, var);
  }
  for (guint i = 0; i < info->callees->len; i++)
    gather_shared(lower, kernel, g_array_index(info->callees, uint32_t, i), found, seen, names_reserved);
}

static gint compare_index(gconstpointer a, gconstpointer b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

static bool is_dynamic(const PtxVar *var) { return var->linkage == PTX_LINK_EXTERN || var->elements == 0; }

/* What the system keeps for itself lies behind the kernel's variables here, and only if the kernel asks where. */
static uint32_t place_reserved(Lower *lower, uint32_t top, uint32_t align) {
  lower->reserved_byte = align_up(top, align);
  return lower->reserved_byte + LOWER_RESERVED_BYTES;
}

/* Static variables in the order of the text, then all dynamic ones at the same place. */
static void place_shared(Lower *lower, uint32_t kernel) {
  enum { DYNAMIC_ALIGN = 16 };
  g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
  uint32_t top = 0, align = 0;
  bool names_reserved = false;
  gather_shared(lower, kernel, kernel, found, seen, &names_reserved);
  g_array_sort(found, compare_index);
  for (guint i = 0; i < found->len; i++) {
    uint32_t index = g_array_index(found, uint32_t, i);
    const PtxVar *var = ptx_var(lower->module, index);
    if (is_dynamic(var)) {
      align = MAX(align, MAX(var_align(var), (uint32_t)DYNAMIC_ALIGN));
      continue;
    }
    top = align_up(top, var_align(var));
    lower->var_byte[index] = top;
    if (ptx_var_bytes(var) > WINDOW_BYTES - MIN(top, WINDOW_BYTES)) {
      lower_error(lower, var->at, "shared memory of more than %u bytes isn't supported", WINDOW_BYTES);
      return;
    }
    top += (uint32_t)ptx_var_bytes(var);
  }
  if (names_reserved)
    top = place_reserved(lower, top, DYNAMIC_ALIGN);
  lower->kernel->shared_bytes = top = align_up(top, align);
  for (guint i = 0; i < found->len; i++)
    if (is_dynamic(ptx_var(lower->module, g_array_index(found, uint32_t, i))))
      lower->var_byte[g_array_index(found, uint32_t, i)] = top;
}

/* -- parameters -- */

void lower_params(Lower *lower, const PtxFunction *function) {
  Kernel *kernel = lower->kernel;
  uint64_t top = 0;
  kernel->params = kernel_params_new();
  kernel->params_lost = true;
  for (uint32_t i = 0; i < function->nparams; i++) {
    uint32_t index = function->first_var + function->nrets + i;
    const PtxVar *var = ptx_var(lower->module, index);
    if (var->space != PTX_PARAM) {
      lower_error(lower, var->at, "the parameters of a kernel are `.param`");
      return;
    }
    top = (top + var_align(var) - 1) / var_align(var) * var_align(var);
    KernelParam param = {.name = g_strdup(var_name(lower, var)),
                         .offset = (uint32_t)top,
                         .bytes = (uint32_t)ptx_var_bytes(var),
                         .type = (uint8_t)lower_data_type((PtxWord)var->type),
                         .bytes_array = var->array || var->vec};
    lower->var_byte[index] = param.offset;
    g_array_append_val(kernel->params, param);
    top += ptx_var_bytes(var);
    if (top > LOWER_PARAM_BYTES_MAX) {
      lower_error(lower, var->at, "a kernel has at most %d bytes of parameters", LOWER_PARAM_BYTES_MAX);
      return;
    }
  }
  kernel->param_bytes = (uint32_t)top;
  kernel->params_lost = function->params_lost;
}

void lower_lay_out(Lower *lower, uint32_t kernel) {
  place_shared(lower, kernel);
  lower_params(lower, ptx_function(lower->module, kernel));
}

/* -- addresses -- */

static ConstRef symbol_ref(Lower *lower, const PtxOperand *operand) {
  const PtxVar *var = ptx_var(lower->module, operand->index);
  if (var->linkage == PTX_LINK_EXTERN)
    lower_error(lower, operand->at, "`%s` is in another file, which isn't supported", var_name(lower, var));
  return (ConstRef){
      .kind = CONST_SYMBOL, .value = (uint32_t)operand->offset, .symbol = lower->symbol[operand->index] - 1};
}

Value lower_address(Lower *lower, const PtxOperand *operand, bool wide, uint32_t window) {
  const PtxVar *var = ptx_var(lower->module, operand->index);
  ConstRef low = {.kind = CONST_IMMEDIATE}, high = {.kind = CONST_IMMEDIATE};
  uint32_t byte = lower->var_byte[operand->index] + (uint32_t)operand->offset + window;
  if (var->space == PTX_GLOBAL || var->space == PTX_CONST)
    low = symbol_ref(lower, operand);
  else if (var->space == PTX_SHARED)
    low.value = byte;
  else if (var->space == PTX_LOCAL)
    low.value = byte + lower->frame->local_base;
  else if (lower_is_kernel_param(lower, lower->frame, operand->index))
    low.value = byte;
  else
    lower_error(lower, operand->at, "the address of the parameter `%s` of a function isn't supported",
                var_name(lower, var));
  if (var->space != PTX_SHARED || !lower->kernel->ranked)
    return wide ? lower_const_pair(lower, low, high) : lower_const(lower, low);
  Value sum = lower_temp(lower, wide ? 2 : 1);
  lower_op2(lower, OP_IADD, sum, lower->rank_base, lower_const(lower, low))->inst.type = TYPE_U32;
  if (wide)
    lower_move(lower, lower_row(sum, 1), lower_imm(lower, 0), false);
  return sum;
}
