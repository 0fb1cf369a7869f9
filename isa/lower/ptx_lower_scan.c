/* What each function names and calls, before anything is lowered: shared memory of a kernel is that of all functions
 * that it reaches. */
#include <string.h>

#include "isa/lower/ptx_lower_state.h"

/* -- callees -- */

static const char *function_name(const Lower *lower, uint32_t function) {
  return ptx_module_name(lower->module, ptx_function(lower->module, function)->name);
}

static bool same_parameters(const Lower *lower, const PtxFunction *a, const PtxFunction *b) {
  if (a->nrets != b->nrets || a->nparams != b->nparams)
    return false;
  for (uint32_t i = 0; i < a->nrets + a->nparams; i++)
    if (ptx_var_bytes(ptx_var(lower->module, a->first_var + i)) !=
        ptx_var_bytes(ptx_var(lower->module, b->first_var + i)))
      return false;
  return true;
}

static void add_candidate(Lower *lower, uint32_t function) {
  uint32_t definition = ptx_function(lower->module, function)->definition;
  g_hash_table_add(lower->candidates, GUINT_TO_POINTER(definition == PTX_NO_INDEX ? function : definition));
}

/* Functions whose address the module takes: what a call through a register may call. */
static void find_candidates(Lower *lower) {
  const PtxModule *module = lower->module;
  lower->candidates = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < module->insts->len; i++) {
    const PtxInst *inst = ptx_inst(module, i);
    for (unsigned k = 0; inst->op == PTX_OP_MOV && k < inst->noperands; k++)
      if (ptx_operand(module, inst->operands + k)->kind == PTX_OPERAND_FUNCTION)
        add_candidate(lower, ptx_operand(module, inst->operands + k)->index);
  }
  for (guint i = 0; i < module->inits->len; i++)
    if (ptx_init(module, i)->kind == PTX_INIT_FUNCTION)
      add_candidate(lower, ptx_init(module, i)->symbol);
}

/* The function that a call through a register calls, if there is only one. */
static uint32_t single_candidate(Lower *lower, const PtxInst *call) {
  const PtxModule *module = lower->module;
  const PtxTable *table = ptx_table(module, ptx_operand(module, call->operands + 3)->index);
  uint32_t found = PTX_NO_INDEX, count = 0;
  if (table->kind == PTX_TABLE_CALL) {
    for (uint32_t i = 0; i < table->noperands; i++, count++)
      found = ptx_operand(module, table->operands + i)->index;
  } else {
    const PtxFunction *prototype = ptx_function(module, table->prototype);
    GHashTableIter iter;
    gpointer key;
    if (!lower->candidates)
      find_candidates(lower);
    g_hash_table_iter_init(&iter, lower->candidates);
    while (g_hash_table_iter_next(&iter, &key, NULL))
      if (same_parameters(lower, prototype, ptx_function(module, GPOINTER_TO_UINT(key)))) {
        found = GPOINTER_TO_UINT(key);
        count++;
      }
  }
  if (count == 1)
    return found;
  lower_error(lower, call->at,
              "a call through a register isn't supported, but for one that can call one function "
              "only; here %u come into question",
              count);
  return PTX_NO_INDEX;
}

uint32_t lower_callee(Lower *lower, const PtxInst *call, const char **name) {
  const PtxOperand *callee = ptx_operand(lower->module, call->operands + 1);
  uint32_t function = callee->kind == PTX_OPERAND_FUNCTION ? callee->index : single_candidate(lower, call);
  *name = NULL;
  if (function == PTX_NO_INDEX)
    return PTX_NO_INDEX;
  uint32_t definition = ptx_function(lower->module, function)->definition;
  if (definition == PTX_NO_INDEX)
    *name = function_name(lower, function);
  return definition;
}

/* -- what a function names -- */

typedef struct Scan {
  Lower *lower;
  LowerFunction *info;
  GHashTable *seen; /* variables and callees, + 1 */
} Scan;

static void scan_operand(Scan *scan, const PtxOperand *operand) {
  const PtxModule *module = scan->lower->module;
  switch ((PtxOperandKind)operand->kind) {
  case PTX_OPERAND_VECTOR:
  case PTX_OPERAND_PAIR:
  case PTX_OPERAND_LIST:
    for (unsigned i = 0; i < operand->count; i++)
      scan_operand(scan, ptx_operand(module, operand->index + i));
    break;
  case PTX_OPERAND_VAR:
  case PTX_OPERAND_MEM_VAR: {
    uint8_t space = ptx_var(module, operand->index)->space;
    if ((space == PTX_SHARED || space == PTX_GLOBAL || space == PTX_CONST) &&
        g_hash_table_add(scan->seen, GSIZE_TO_POINTER((gsize)operand->index + 1)))
      g_array_append_val(scan->info->vars, operand->index);
    break;
  }
  case PTX_OPERAND_SPECIAL:
    scan->info->names_reserved |=
        operand->index >= PTX_SR_RESERVED_SMEM_OFFSET_BEGIN && operand->index <= PTX_SR_RESERVED_SMEM_OFFSET_1;
    break;
  default: break;
  }
}

static void scan_call(Scan *scan, const PtxInst *inst) {
  const char *name;
  uint32_t callee = lower_callee(scan->lower, inst, &name);
  if (callee != PTX_NO_INDEX && g_hash_table_add(scan->seen, GSIZE_TO_POINTER((gsize)callee + 1 + UINT32_MAX)))
    g_array_append_val(scan->info->callees, callee);
}

static void place_locals(Lower *lower, const PtxFunction *function, LowerFunction *info) {
  uint64_t top = 0;
  for (uint32_t i = function->first_var; i < function->first_var + function->nvars; i++) {
    const PtxVar *var = ptx_var(lower->module, i);
    if (var->space != PTX_LOCAL)
      continue;
    top = (top + MAX(var->align, 1u) - 1) / MAX(var->align, 1u) * MAX(var->align, 1u);
    lower->var_byte[i] = (uint32_t)top;
    top += ptx_var_bytes(var);
    if (top > WINDOW_BYTES) {
      lower_error(lower, var->at, "local memory of more than %u bytes isn't supported", WINDOW_BYTES);
      return;
    }
  }
  info->local_bytes = (uint32_t)(top + 15) / 16 * 16;
}

/* -- the end of a function -- */

static bool never_goes_on(Lower *lower, const PtxInst *inst) {
  if (inst->guard != PTX_NO_INDEX)
    return false;
  switch ((PtxOp)inst->op) {
  case PTX_OP_BRA:
  case PTX_OP_BRX:
  case PTX_OP_RET:
  case PTX_OP_EXIT:
  case PTX_OP_TRAP: return true;
  case PTX_OP_CALL: {
    const PtxOperand *callee = ptx_operand(lower->module, inst->operands + 1);
    return callee->kind == PTX_OPERAND_FUNCTION && (ptx_function(lower->module, callee->index)->noreturn ||
                                                    strcmp(function_name(lower, callee->index), "__assertfail") == 0);
  }
  default: return false;
  }
}

static void visit(const PtxFunction *function, uint8_t *seen, GArray *work, uint32_t inst) {
  uint32_t local = inst - function->first_inst;
  if (seen[local])
    return;
  seen[local] = 1;
  if (local < function->ninsts)
    g_array_append_val(work, inst);
}

static void visit_label(const Lower *lower, const PtxFunction *function, uint8_t *seen, GArray *work,
                        const PtxOperand *label) {
  visit(function, seen, work, ptx_label(lower->module, label->index)->inst);
}

/* An error if some path runs past the last instruction. */
static void check_end(Lower *lower, const PtxFunction *function) {
  const PtxModule *module = lower->module;
  g_autofree uint8_t *seen = g_new0(uint8_t, function->ninsts + 1);
  g_autoptr(GArray) work = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  visit(function, seen, work, function->first_inst);
  while (work->len && !seen[function->ninsts]) {
    uint32_t at = g_array_index(work, uint32_t, work->len - 1);
    const PtxInst *inst = ptx_inst(module, at);
    g_array_set_size(work, work->len - 1);
    if (inst->op == PTX_OP_BRA)
      visit_label(lower, function, seen, work, ptx_operand(module, inst->operands));
    if (inst->op == PTX_OP_BRX) {
      const PtxTable *table = ptx_table(module, ptx_operand(module, inst->operands + 1)->index);
      for (uint32_t i = 0; i < table->noperands; i++)
        visit_label(lower, function, seen, work, ptx_operand(module, table->operands + i));
    }
    if (!never_goes_on(lower, inst))
      visit(function, seen, work, at + 1);
  }
  if (seen[function->ninsts])
    lower_error(lower,
                function->ninsts ? ptx_inst(module, function->first_inst + function->ninsts - 1)->at : function->at,
                "`%s` can run past its last instruction; end it with `ret` or `exit`",
                ptx_module_name(module, function->name));
}

/* -- all of it -- */

static void scan_body(Lower *lower, const PtxFunction *function, LowerFunction *info) {
  g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
  Scan scan = {lower, info, seen};
  info->callees = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  info->vars = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  for (uint32_t i = 0; i < function->ninsts; i++) {
    const PtxInst *inst = ptx_inst(lower->module, function->first_inst + i);
    for (unsigned k = 0; k < inst->noperands; k++)
      scan_operand(&scan, ptx_operand(lower->module, inst->operands + k));
    if (inst->op == PTX_OP_CALL)
      scan_call(&scan, inst);
  }
  if (function->broken)
    diag_add_all(info->errors, ptx_broken(lower->module, function->broken - 1)->errors);
  for (uint32_t i = 0; i < function->nskipped; i++) {
    const PtxSkipped *skipped = ptx_skipped(lower->module, function->first_skipped + i);
    lower_error(lower, skipped->why_at, "%s", skipped->why);
  }
  place_locals(lower, function, info);
  if (!function->nskipped && !function->broken)
    check_end(lower, function);
}

/* "`f` calls `g`, which calls `f`": the calls in a circle that `caller` closes by calling `index`. */
static char *circle_of(const Lower *lower, uint32_t index, uint32_t caller) {
  const char *name = ptx_module_name(lower->module, ptx_function(lower->module, index)->name);
  if (caller == index)
    return g_strdup_printf("`%s` calls itself", name);
  GString *text = g_string_new(NULL);
  for (uint32_t at = caller; at != index; at = lower->functions[at].caller) {
    const char *between = ptx_module_name(lower->module, ptx_function(lower->module, at)->name);
    g_autofree char *link = g_strdup_printf(" calls `%s`, which", between);
    g_string_prepend(text, link);
  }
  g_autofree char *links = g_string_free(text, FALSE);
  return g_strdup_printf("`%s`%s calls `%s`", name, links, name);
}

static void scan_function(Lower *lower, uint32_t index, uint32_t caller, unsigned depth) {
  const PtxFunction *function = ptx_function(lower->module, index);
  LowerFunction *info = &lower->functions[index];
  if (info->state == SCAN_DONE)
    return;
  if (!info->errors)
    info->errors = diag_new();
  lower->diag = info->errors;
  if (info->state == SCAN_OPEN) {
    g_autofree char *circle = circle_of(lower, index, caller);
    lower_error(lower, function->at, "%s: recursion isn't supported", circle);
    return;
  }
  if (depth <= LOWER_DEPTH_MAX) {
    info->state = SCAN_OPEN;
    info->caller = caller;
    scan_body(lower, function, info);
    for (guint i = 0; i < info->callees->len; i++) {
      uint32_t callee = g_array_index(info->callees, uint32_t, i);
      scan_function(lower, callee, index, depth + 1);
      info->height = MAX(info->height, lower->functions[callee].height + 1);
    }
    info->state = SCAN_DONE;
  }
  lower->diag = info->errors;
  if (depth > LOWER_DEPTH_MAX || info->height > LOWER_DEPTH_MAX)
    lower_error(lower, function->at, "calls are nested more than %d deep", LOWER_DEPTH_MAX);
}

void lower_scan(Lower *lower, uint32_t function) {
  Diag *diag = lower->diag;
  scan_function(lower, function, function, 0);
  lower->diag = diag;
  lower->failed = false;
}
