#include "isa/ptx/ptx_print.h"

/* -- operands -- */

static const char components[] = "xyzw";

static void append_register(const PtxModule *module, const PtxFunction *function, uint32_t number, GString *out) {
  const PtxVar *var = ptx_var(module, ptx_module_register(module, function, number));
  g_string_append(out, ptx_module_name(module, var->name));
  if (var->count)
    g_string_append_printf(out, "%u", number - var->base);
}

static void append_var(const PtxModule *module, uint32_t index, int32_t offset, GString *out) {
  g_string_append(out, ptx_module_name(module, ptx_var(module, index)->name));
  if (offset)
    g_string_append_printf(out, "+%d", offset);
}

static void append_operand(const PtxModule *module, const PtxFunction *function, const PtxOperand *operand,
                           GString *out);

static void append_parts(const PtxModule *module, const PtxFunction *function, const PtxOperand *operand,
                         const char *separator, GString *out) {
  for (unsigned i = 0; i < operand->count; i++) {
    g_string_append(out, i ? separator : "");
    append_operand(module, function, ptx_operand(module, operand->index + i), out);
  }
}

static void append_memory(const PtxModule *module, const PtxFunction *function, const PtxOperand *operand,
                          GString *out) {
  g_string_append_c(out, '[');
  if (operand->kind == PTX_OPERAND_MEM_ABSOLUTE) {
    g_string_append_printf(out, "%" G_GUINT64_FORMAT, operand->bits);
  } else if (operand->kind == PTX_OPERAND_MEM_VAR) {
    append_var(module, operand->index, operand->offset, out);
  } else {
    append_register(module, function, operand->index, out);
    if (operand->offset)
      g_string_append_printf(out, "+%d", operand->offset);
  }
  g_string_append_c(out, ']');
}

static void append_operand(const PtxModule *module, const PtxFunction *function, const PtxOperand *operand,
                           GString *out) {
  switch ((PtxOperandKind)operand->kind) {
  case PTX_OPERAND_REG:
    g_string_append(out, operand->negated ? "!" : "");
    append_register(module, function, operand->index, out);
    if (operand->component)
      g_string_append_printf(out, ".%c", components[operand->component - 1]);
    break;
  case PTX_OPERAND_INTEGER: g_string_append_printf(out, "%" G_GINT64_FORMAT, (int64_t)operand->bits); break;
  case PTX_OPERAND_F32: g_string_append_printf(out, "0f%08X", (unsigned)operand->bits); break;
  case PTX_OPERAND_F64: g_string_append_printf(out, "0d%016" G_GINT64_MODIFIER "X", operand->bits); break;
  case PTX_OPERAND_SPECIAL: g_string_append_printf(out, "%%%s", ptx_special_name((PtxSpecial)operand->index)); break;
  case PTX_OPERAND_VAR: append_var(module, operand->index, operand->offset, out); break;
  case PTX_OPERAND_FUNCTION:
    g_string_append(out, ptx_module_name(module, ptx_function(module, operand->index)->name));
    break;
  case PTX_OPERAND_LABEL:
    g_string_append(out, ptx_module_name(module, ptx_label(module, operand->index)->name));
    break;
  case PTX_OPERAND_TABLE:
    g_string_append(out, ptx_module_name(module, ptx_table(module, operand->index)->name));
    break;
  case PTX_OPERAND_SINK: g_string_append_c(out, '_'); break;
  case PTX_OPERAND_MEM_REG:
  case PTX_OPERAND_MEM_VAR:
  case PTX_OPERAND_MEM_ABSOLUTE: append_memory(module, function, operand, out); break;
  case PTX_OPERAND_PAIR: append_parts(module, function, operand, "|", out); break;
  case PTX_OPERAND_VECTOR:
  case PTX_OPERAND_LIST:
    g_string_append_c(out, operand->kind == PTX_OPERAND_LIST ? '(' : '{');
    append_parts(module, function, operand, ", ", out);
    g_string_append_c(out, operand->kind == PTX_OPERAND_LIST ? ')' : '}');
    break;
  }
}

/* -- instructions -- */

static void append_inst(const PtxModule *module, const PtxFunction *function, const PtxInst *inst, GString *out) {
  if (inst->guard != PTX_NO_INDEX) {
    g_string_append(out, inst->guard_not ? "@!" : "@");
    append_register(module, function, inst->guard, out);
    g_string_append_c(out, ' ');
  }
  ptx_ops_write(module->ops, inst->form, &inst->mods, out);
  bool first = true;
  for (unsigned i = 0; i < inst->noperands; i++) {
    const PtxOperand *operand = ptx_operand(module, inst->operands + i);
    bool empty = inst->op == PTX_OP_CALL && operand->kind == PTX_OPERAND_LIST && operand->count == 0;
    if (empty)
      continue;
    g_string_append(out, first ? " " : ", ");
    append_operand(module, function, operand, out);
    first = false;
  }
}

/* -- variables -- */

static const char *const linkages[] = {"", ".visible ", ".extern ", ".weak ", ".common "};

static void append_init(const PtxModule *module, const PtxVar *var, const PtxInit *init, GString *out) {
  if (init->kind == PTX_INIT_BITS) {
    if (var->type == PTX_F32)
      g_string_append_printf(out, "0f%08X", (unsigned)init->bits);
    else if (var->type == PTX_F64)
      g_string_append_printf(out, "0d%016" G_GINT64_MODIFIER "X", init->bits);
    else
      g_string_append_printf(out, "%" G_GUINT64_FORMAT, init->bits);
    return;
  }
  bool generic = init->kind == PTX_INIT_VAR_GENERIC, masked = init->byte != PTX_INIT_WHOLE;
  uint32_t name = init->kind == PTX_INIT_FUNCTION ? ptx_function(module, init->symbol)->name
                                                  : ptx_var(module, init->symbol)->name;
  if (masked)
    g_string_append_printf(out, "0x%" G_GINT64_MODIFIER "X(", (uint64_t)0xff << 8 * init->byte);
  g_string_append_printf(out, generic ? "generic(%s)" : "%s", ptx_module_name(module, name));
  if (init->offset)
    g_string_append_printf(out, "+%d", init->offset);
  g_string_append(out, masked ? ")" : "");
}

static void append_zero(const PtxVar *var, GString *out) {
  g_string_append(out, var->type == PTX_F32 ? "0f00000000" : var->type == PTX_F64 ? "0d0000000000000000" : "0");
}

/* Up to the last value that isn't 0; those between that weren't stored are 0. */
static void append_inits(const PtxModule *module, const PtxVar *var, GString *out) {
  bool braces = var->array || var->vec;
  uint32_t next = 0;
  if (var->ninits == 0)
    return;
  g_string_append(out, braces ? " = {" : " = ");
  for (uint32_t i = 0; i < var->ninits; i++) {
    const PtxInit *init = ptx_init(module, var->first_init + i);
    for (; next < init->element; next++) {
      append_zero(var, out);
      g_string_append(out, ", ");
    }
    append_init(module, var, init, out);
    g_string_append(out, i + 1 < var->ninits ? ", " : "");
    next++;
  }
  g_string_append(out, braces ? "}" : "");
}

static void append_var_declaration(const PtxModule *module, const PtxVar *var, GString *out) {
  g_string_append_printf(out, "%s.%s", linkages[var->linkage], ptx_word_text((PtxWord)var->space));
  if (var->managed)
    g_string_append(out, " .attribute(.managed)");
  if (var->align)
    g_string_append_printf(out, " .align %u", var->align);
  if (var->vec)
    g_string_append_printf(out, " .%s", ptx_word_text((PtxWord)var->vec));
  g_string_append_printf(out, " .%s", ptx_word_text((PtxWord)var->type));
  if (var->ptr)
    g_string_append(out, " .ptr");
  if (var->ptr_space)
    g_string_append_printf(out, " .%s", ptx_word_text((PtxWord)var->ptr_space));
  if (var->ptr_align)
    g_string_append_printf(out, " .align %u", var->ptr_align);
  g_string_append_printf(out, " %s", var->name ? ptx_module_name(module, var->name) : "_");
  if (var->count)
    g_string_append_printf(out, "<%u>", var->count);
  if (var->array && var->elements)
    g_string_append_printf(out, "[%u]", var->elements);
  else if (var->array)
    g_string_append(out, "[]");
  append_inits(module, var, out);
}

/* -- functions -- */

static void append_params(const PtxModule *module, uint32_t first, uint32_t count, bool lines, GString *out) {
  g_string_append_c(out, '(');
  for (uint32_t i = 0; i < count; i++) {
    g_string_append(out, i ? "," : "");
    g_string_append(out, lines ? "\n\t" : i ? " " : "");
    append_var_declaration(module, ptx_var(module, first + i), out);
  }
  g_string_append(out, lines ? "\n)" : ")");
}

static void append_threads(const char *directive, const uint32_t threads[3], GString *out) {
  if (threads[0])
    g_string_append_printf(out, "\n%s %u, %u, %u", directive, threads[0], threads[1], threads[2]);
}

static void append_head(const PtxModule *module, const PtxFunction *function, GString *out) {
  g_string_append_printf(out, "%s%s ", linkages[function->linkage], function->entry ? ".entry" : ".func");
  if (function->nrets) {
    append_params(module, function->first_var, function->nrets, false, out);
    g_string_append_c(out, ' ');
  }
  g_string_append(out, ptx_module_name(module, function->name));
  if (function->nparams)
    append_params(module, function->first_var + function->nrets, function->nparams, true, out);
  g_string_append(out, function->noreturn ? "\n.noreturn" : "");
  append_threads(".maxntid", function->maxntid, out);
  append_threads(".reqntid", function->reqntid, out);
  append_threads(".reqnctapercluster", function->cluster, out);
  if (function->explicit_cluster)
    g_string_append(out, "\n.explicitcluster");
  if (function->minnctapersm)
    g_string_append_printf(out, "\n.minnctapersm %u", function->minnctapersm);
  if (function->maxnreg)
    g_string_append_printf(out, "\n.maxnreg %u", function->maxnreg);
  if (function->rolled)
    g_string_append(out, "\n.pragma \"nounroll\";");
}

static void append_loc(const PtxModule *module, const PtxLoc *loc, GString *out) {
  g_string_append_printf(out, "\t.loc %u %u %u", loc->file, loc->line, loc->column);
  if (loc->function_name)
    g_string_append_printf(out, ", function_name %s", ptx_module_name(module, loc->function_name));
  if (loc->function_offset)
    g_string_append_printf(out, "+%u", loc->function_offset);
  if (loc->inlined_line || loc->inlined_file)
    g_string_append_printf(out, ", inlined_at %u %u %u", loc->inlined_file, loc->inlined_line, loc->inlined_column);
  g_string_append_c(out, '\n');
}

static void append_table(const PtxModule *module, const PtxFunction *function, const PtxTable *table, GString *out) {
  g_string_append_printf(out, "\t%s: ", ptx_module_name(module, table->name));
  if (table->kind == PTX_TABLE_PROTOTYPE) {
    const PtxFunction *prototype = ptx_function(module, table->prototype);
    g_string_append(out, ".callprototype ");
    if (prototype->nrets)
      append_params(module, prototype->first_var, prototype->nrets, false, out);
    g_string_append(out, prototype->nrets ? " _ " : "_ ");
    append_params(module, prototype->first_var + prototype->nrets, prototype->nparams, false, out);
    g_string_append(out, prototype->noreturn ? " .noreturn;\n" : ";\n");
    return;
  }
  g_string_append(out, table->kind == PTX_TABLE_BRANCH ? ".branchtargets " : ".calltargets ");
  const PtxOperand all = {.index = table->operands, .count = (uint16_t)table->noperands};
  append_parts(module, function, &all, ", ", out);
  g_string_append(out, ";\n");
}

/* What comes next in a body: everything in it has a place, and they are merged by it. */
typedef struct Cursor {
  uint32_t inst, label, scope, loc, table, skipped, var;
  uint32_t open; /* innermost open scope */
} Cursor;

typedef enum {
  ITEM_NONE,
  ITEM_CLOSE,
  ITEM_OPEN,
  ITEM_VAR,
  ITEM_LABEL,
  ITEM_TABLE,
  ITEM_LOC,
  ITEM_SKIPPED,
  ITEM_INST
} Item;

static Item next_item(const PtxModule *module, const PtxFunction *function, const Cursor *cursor) {
  uint32_t best = UINT32_MAX;
  Item item = ITEM_NONE;
#define CONSIDER(kind, condition, place) \
  if ((condition) && (place) < best) {   \
    best = (place);                      \
    item = (kind);                       \
  }
  CONSIDER(ITEM_INST, cursor->inst < function->first_inst + function->ninsts, ptx_inst(module, cursor->inst)->at)
  CONSIDER(ITEM_LABEL, cursor->label < function->first_label + function->nlabels,
           ptx_label(module, cursor->label)->at)
  CONSIDER(ITEM_LOC, cursor->loc < function->first_loc + function->nlocs, ptx_loc(module, cursor->loc)->at)
  CONSIDER(ITEM_VAR, cursor->var < function->first_var + function->nvars, ptx_var(module, cursor->var)->at)
  CONSIDER(ITEM_TABLE, cursor->table < function->first_table + function->ntables,
           ptx_table(module, cursor->table)->at)
  CONSIDER(ITEM_SKIPPED, cursor->skipped < function->first_skipped + function->nskipped,
           ptx_skipped(module, cursor->skipped)->at)
  CONSIDER(ITEM_OPEN, cursor->scope < function->first_scope + function->nscopes, ptx_scope(module, cursor->scope)->at)
  CONSIDER(ITEM_CLOSE, cursor->open != PTX_NO_INDEX, ptx_scope(module, cursor->open)->end_at)
#undef CONSIDER
  return item;
}

static void append_line(const PtxModule *module, const PtxFunction *function, const PtxInst *inst, GString *out) {
  g_string_append(out, inst->rolled ? "\t.pragma \"nounroll\";\n" : "");
  g_string_append_c(out, '\t');
  append_inst(module, function, inst, out);
  g_string_append(out, ";\n");
}

static void append_local(const PtxModule *module, const PtxVar *var, GString *out) {
  g_string_append_c(out, '\t');
  append_var_declaration(module, var, out);
  g_string_append(out, ";\n");
}

/* The variables of a prototype stand between its table and the next thing. */
static uint32_t behind_prototype(const PtxModule *module, const PtxTable *table, uint32_t var) {
  if (table->kind != PTX_TABLE_PROTOTYPE)
    return var;
  const PtxFunction *prototype = ptx_function(module, table->prototype);
  return prototype->first_var + prototype->nvars;
}

static void append_body(const PtxModule *module, const PtxFunction *function, GString *out) {
  Cursor at = {function->first_inst,
               function->first_label,
               function->first_scope,
               function->first_loc,
               function->first_table,
               function->first_skipped,
               function->first_var + function->nrets + function->nparams,
               PTX_NO_INDEX};
  for (Item item; (item = next_item(module, function, &at)) != ITEM_NONE;) {
    switch (item) {
    case ITEM_INST: append_line(module, function, ptx_inst(module, at.inst++), out); break;
    case ITEM_VAR: append_local(module, ptx_var(module, at.var++), out); break;
    case ITEM_LOC: append_loc(module, ptx_loc(module, at.loc++), out); break;
    case ITEM_SKIPPED: g_string_append_printf(out, "\t%s;\n", ptx_skipped(module, at.skipped++)->text); break;
    case ITEM_LABEL:
      g_string_append_printf(out, "%s:\n", ptx_module_name(module, ptx_label(module, at.label++)->name));
      break;
    case ITEM_TABLE:
      append_table(module, function, ptx_table(module, at.table), out);
      at.var = behind_prototype(module, ptx_table(module, at.table++), at.var);
      break;
    case ITEM_OPEN:
      g_string_append(out, "\t{\n");
      at.open = at.scope++;
      break;
    default:
      g_string_append(out, "\t}\n");
      at.open = ptx_scope(module, at.open)->parent;
      break;
    }
  }
}

static void append_function(const PtxModule *module, const PtxFunction *function, GString *out) {
  if (function->broken) {
    g_string_append_printf(out, "%s\n", ptx_broken(module, function->broken - 1)->text);
    return;
  }
  append_head(module, function, out);
  if (!function->has_body) {
    g_string_append(out, ";\n");
    return;
  }
  g_string_append(out, "\n{\n");
  append_body(module, function, out);
  g_string_append(out, "}\n");
}

/* -- the module -- */

static void append_globals(const PtxModule *module, uint32_t *var, uint32_t end, GString *out) {
  for (; *var < end; (*var)++) {
    append_var_declaration(module, ptx_var(module, *var), out);
    g_string_append(out, ";\n");
  }
}

char *ptx_print_module(const PtxModule *module) {
  GString *out = g_string_new(NULL);
  uint32_t var = 0;
  g_string_append_printf(out, ".version %u.%u\n.target %s\n.address_size %u\n", module->version_major,
                         module->version_minor, module->target, module->address_size);
  g_string_append(out, module->rolled ? ".pragma \"nounroll\";\n" : "");
  for (guint i = 0; i < module->functions->len; i++) {
    const PtxFunction *function = ptx_function(module, i);
    if (function->prototype)
      continue;
    append_globals(module, &var, function->first_var, out);
    append_function(module, function, out);
    var = function->first_var + function->nvars;
  }
  append_globals(module, &var, module->vars->len, out);
  for (guint i = 0; i < module->files->len; i++) {
    const PtxFile *file = &g_array_index(module->files, PtxFile, i);
    g_string_append_printf(out, ".file %u \"%s\"\n", file->number, file->path);
  }
  return g_string_free(out, FALSE);
}
