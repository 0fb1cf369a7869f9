#include "isa/mc/mc_build.h"

#include <math.h>
#include <string.h>

/* ---- modifiers ---- */

bool mc_has(const McBuild *build, const char *modifier) { return mc_has_modifier(build->inst, modifier); }

bool mc_refuse(McBuild *build) {
  build->failed = true;
  return false;
}

bool mc_only(const McBuild *build, ...) {
  for (unsigned i = 0; i < MC_MODIFIERS_MAX && build->inst->modifiers[i]; i++) {
    va_list allowed;
    bool found = false;
    va_start(allowed, build);
    for (const char *name; !found && (name = va_arg(allowed, const char *));)
      found = strcmp(name, build->inst->modifiers[i]) == 0;
    va_end(allowed);
    if (!found)
      return false;
  }
  return true;
}

/* ---- operands ---- */

guint mc_count(const McBuild *build) { return build->inst->operands; }

const McOperand *mc_at(const McBuild *build, guint index) {
  static const McOperand nothing = {.kind = MC_REGISTER, .number = MC_RZ, .base = MC_NO_REGISTER};
  return index < build->inst->operands ? mc_operand(build->module, build->inst, index) : &nothing;
}

bool mc_is_register(const McOperand *operand) { return operand->kind == MC_REGISTER || operand->kind == MC_UNIFORM; }

bool mc_is_predicate(const McOperand *operand) {
  return operand->kind == MC_PREDICATE || operand->kind == MC_UNIFORM_PREDICATE;
}

/* ---- constants ---- */

static int16_t add_const(McBuild *build, ConstRef ref) {
  enum { CONSTS_MAX = 1 << 15 };
  if (build->consts->len >= CONSTS_MAX - 1) {
    mc_refuse(build);
    return -1;
  }
  g_array_append_val(build->consts, ref);
  return (int16_t) ~(int)(build->consts->len - 1);
}

/* Equal constants have one row; those of a pair stand side by side. */
static int16_t know_const(McBuild *build, ConstRef first, const ConstRef *second) {
  g_autofree char *key =
      g_strdup_printf("%d %x %u %d %x %u", (int)first.kind, first.value, first.symbol,
                      second ? (int)second->kind : -1, second ? second->value : 0, second ? second->symbol : 0);
  gpointer known = g_hash_table_lookup(build->known, key);
  if (known)
    return (int16_t) ~(GPOINTER_TO_INT(known) - 1);
  int16_t slot = add_const(build, first);
  if (second)
    add_const(build, *second);
  g_hash_table_insert(build->known, g_steal_pointer(&key), GINT_TO_POINTER(~slot + 1));
  return slot;
}

int16_t mc_constant(McBuild *build, uint32_t value) {
  return know_const(build, (ConstRef){.kind = CONST_IMMEDIATE, .value = value}, NULL);
}

int16_t mc_constant_pair(McBuild *build, uint64_t value) {
  ConstRef high = {.kind = CONST_IMMEDIATE, .value = (uint32_t)(value >> 32)};
  return know_const(build, (ConstRef){.kind = CONST_IMMEDIATE, .value = (uint32_t)value}, &high);
}

int16_t mc_symbol_pair(McBuild *build, uint32_t variable, uint32_t offset) {
  ConstRef high = {.kind = CONST_IMMEDIATE};
  return know_const(build, (ConstRef){.kind = CONST_SYMBOL, .value = offset, .symbol = variable}, &high);
}

/* ---- constant banks ---- */

/* Bank 2 belongs to a kernel, 3 and 4 to the module. */
static const char *bank_section(const McBuild *build, int bank) {
  g_autofree char *own = g_strdup_printf(".nv.constant%d.%s", bank, build->source->name);
  g_autofree char *common = g_strdup_printf(".nv.constant%d", bank);
  const McData *data = mc_find_data(build->module, own);
  data = data ? data : mc_find_data(build->module, common);
  return data ? data->section : NULL;
}

int mc_bank_variable(McBuild *build, int bank) {
  const char *section = bank_section(build, bank);
  for (guint i = 0; section && i < build->program->variables->len; i++)
    if (strcmp(((const ProgramVariable *)g_ptr_array_index(build->program->variables, i))->name, section) == 0)
      return (int)i;
  return -1;
}

/* The variable that byte `offset` of bank 3 lies in, which the host knows by its name. */
static int variable_at(const McBuild *build, const char *section, uint32_t offset, uint32_t *within) {
  for (guint i = 0; i < build->module->symbols->len; i++) {
    const McSymbol *symbol = &g_array_index(build->module->symbols, McSymbol, i);
    if (!symbol->section || strcmp(symbol->section, section) != 0 || offset < symbol->value ||
        offset - symbol->value >= symbol->bytes)
      continue;
    *within = offset - (uint32_t)symbol->value;
    for (guint v = 0; v < build->program->variables->len; v++)
      if (strcmp(((const ProgramVariable *)g_ptr_array_index(build->program->variables, v))->name, symbol->name) == 0)
        return (int)v;
  }
  return -1;
}

/* A word that is the address of something; false if it isn't one. */
static bool bank_address(McBuild *build, const McData *data, uint32_t offset, ConstRef *ref) {
  for (guint i = 0; data->relocs && i < data->relocs->len; i++) {
    const McReloc *reloc = &g_array_index(data->relocs, McReloc, i);
    if (reloc->offset + (reloc->bytes == 8 ? 4u : 0) == offset &&
        (reloc->bytes == 8 || reloc->part == MC_SYMBOL_HIGH32)) {
      *ref = (ConstRef){.kind = CONST_IMMEDIATE};
      return true;
    }
    if (reloc->offset != offset)
      continue;
    *ref = (ConstRef){.kind = CONST_IMMEDIATE}; /* a function */
    for (guint v = 0; v < build->program->variables->len; v++)
      if (strcmp(((const ProgramVariable *)g_ptr_array_index(build->program->variables, v))->name, reloc->symbol) ==
          0)
        *ref = (ConstRef){.kind = CONST_SYMBOL, .symbol = v, .value = (uint32_t)reloc->addend};
    return true;
  }
  return false;
}

/* A pointer to a `__constant__` variable is the address of bank 3, which the driver writes into bank 0, and its place
 * there. */
static bool is_user_bank(McBuild *build, uint32_t offset, ConstRef *ref) {
  uint32_t at = build->sm >= 90 ? 0xd0 : 0x50;
  int variable = offset == at || offset == at + 4 ? mc_bank_variable(build, 3) : -1;
  *ref = (ConstRef){.kind = variable >= 0 && offset == at ? CONST_SYMBOL : CONST_IMMEDIATE,
                    .symbol = (uint32_t)MAX(variable, 0)};
  return variable >= 0;
}

/* Word `offset` of a constant bank, as a row of the launch; false if it has to be loaded. */
static bool bank_word(McBuild *build, const McOperand *operand, uint32_t offset, ConstRef *ref) {
  if (operand->bank == 0 && is_user_bank(build, offset, ref))
    return true;
  if (operand->bank == 0) {
    *ref = (ConstRef){.kind = CONST_BANK, .value = offset};
    return true;
  }
  const char *section = bank_section(build, operand->bank);
  const McData *data = section ? mc_find_data(build->module, section) : NULL;
  if (!data || operand->bank == 3)
    return false;
  if (bank_address(build, data, offset, ref))
    return true;
  *ref = (ConstRef){.kind = CONST_IMMEDIATE};
  if (data->data && offset + 4 <= data->bytes)
    memcpy(&ref->value, data->data + offset, 4);
  return true;
}

/* A variable that the host may have set: loaded before. */
static int16_t load_bank(McBuild *build, const McOperand *operand, unsigned words) {
  const char *section = bank_section(build, operand->bank);
  uint32_t within = 0;
  int variable = section ? variable_at(build, section, (uint32_t)operand->offset, &within) : -1;
  if (variable < 0) {
    build->missing_bank = section ? 0 : operand->bank;
    mc_refuse(build);
    return MC_BAD;
  }
  Inst load = mc_blank(build, OP_LD);
  load.space = MEM_CONST;
  load.width = words == 2 ? WIDTH_64 : WIDTH_32;
  load.flags |= INST_ADDR64;
  load.wide = WIDE_A;
  load.a = mc_symbol_pair(build, (uint32_t)variable, within);
  load.dst = mc_scratch(build, words);
  mc_emit(build, &load);
  return load.dst;
}

static int16_t constant_rows(McBuild *build, const McOperand *operand, unsigned words) {
  ConstRef low, high;
  if (operand->base != MC_NO_REGISTER || operand->uniform != MC_NO_REGISTER || operand->bank < 0) {
    mc_refuse(build);
    return MC_BAD;
  }
  if (!bank_word(build, operand, (uint32_t)operand->offset, &low))
    return load_bank(build, operand, words);
  if (words == 1)
    return know_const(build, low, NULL);
  bank_word(build, operand, (uint32_t)operand->offset + 4, &high);
  return know_const(build, low, &high);
}

/* ---- registers ---- */

static int16_t register_row(McBuild *build, const McOperand *operand, unsigned words) {
  if (operand->kind == MC_UNIFORM) {
    build->top_uniform = MAX(build->top_uniform, operand->number + (int)words);
    return (int16_t)(MC_ROW_UNIFORM + operand->number);
  }
  build->top_register = MAX(build->top_register, operand->number + (int)words);
  return operand->number;
}

static bool is_zero(const McOperand *operand) {
  return operand->kind == MC_UNIFORM ? operand->number == MC_URZ : operand->number == MC_RZ;
}

static int16_t symbol_row(McBuild *build, const McOperand *operand) {
  for (guint v = 0; operand->part != MC_SYMBOL_HIGH32 && v < build->program->variables->len; v++)
    if (strcmp(((const ProgramVariable *)g_ptr_array_index(build->program->variables, v))->name, operand->text) == 0)
      return know_const(build, (ConstRef){.kind = CONST_SYMBOL, .symbol = v}, NULL);
  return mc_constant(build, 0);
}

static int16_t value_rows(McBuild *build, const McOperand *operand, unsigned words) {
  switch ((McOperandKind)operand->kind) {
  case MC_REGISTER:
  case MC_UNIFORM:
    if (is_zero(operand))
      return words == 2 ? mc_constant_pair(build, 0) : mc_constant(build, 0);
    if (operand->part != MC_ALL && operand->part != MC_PAIR64)
      break;
    return register_row(build, operand, words);
  case MC_INTEGER:
    return words == 2 ? mc_constant_pair(build, operand->value) : mc_constant(build, (uint32_t)operand->value);
  case MC_CONSTANT: return constant_rows(build, operand, words);
  case MC_SYMBOL:
    if (words == 1)
      return symbol_row(build, operand);
    break;
  case MC_TARGET:
    return words == 1 ? mc_constant(build, (uint32_t)operand->value) : mc_constant_pair(build, operand->value);
  default: break;
  }
  mc_refuse(build);
  return MC_BAD;
}

int16_t mc_value(McBuild *build, const McOperand *operand) { return value_rows(build, operand, 1); }

int16_t mc_pair(McBuild *build, const McOperand *operand) { return value_rows(build, operand, 2); }

static bool number_of(const McOperand *operand, double *value) {
  if (operand->kind == MC_REAL)
    *value = operand->real;
  else if (operand->kind == MC_INTEGER)
    *value = (double)(int64_t)operand->value;
  else
    return false;
  return true;
}

/* Bits of an immediate that isn't a number: the text doesn't have them, its encoding does. */
static bool has_nan_bits(const McBuild *build, double value) { return isnan(value) && build->inst->encoded; }

int16_t mc_float(McBuild *build, const McOperand *operand) {
  double value;
  if (!number_of(operand, &value))
    return mc_value(build, operand);
  if (has_nan_bits(build, value))
    return mc_constant(build, (uint32_t)(build->inst->low >> 32));
  float single = (float)value;
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  return mc_constant(build, bits);
}

int16_t mc_double(McBuild *build, const McOperand *operand) {
  double value;
  if (!number_of(operand, &value))
    return mc_pair(build, operand);
  if (has_nan_bits(build, value))
    return mc_constant_pair(build, build->inst->low >> 32 << 32);
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return mc_constant_pair(build, bits);
}

int16_t mc_destination(McBuild *build, const McOperand *operand, unsigned words) {
  if (!mc_is_register(operand)) {
    mc_refuse(build);
    return MC_BAD;
  }
  return is_zero(operand) ? MC_ROW_SINK : register_row(build, operand, words);
}

uint8_t mc_predicate_out(const McOperand *operand) {
  if (operand->number == MC_PT)
    return PRED_SINK;
  return (uint8_t)(operand->kind == MC_UNIFORM_PREDICATE ? MC_UNIFORM_PREDICATES + operand->number : operand->number);
}

void mc_predicate_in(Inst *inst, unsigned index, const McOperand *operand) {
  bool never = operand == NULL;
  inst->psrc[index] = never || operand->number == MC_PT ? PRED_TRUE : mc_predicate_out(operand);
  inst->psrc_not = (uint8_t)(inst->psrc_not & ~(1u << index));
  inst->psrc_not |= (uint8_t)((never || operand->negated ? 1u : 0) << index);
}

/* ---- instructions ---- */

Inst mc_blank(const McBuild *build, Opcode op) {
  return (Inst){.op = (uint16_t)op,
                .guard = build->guard,
                .flags = build->guard_not ? INST_GUARD_NOT : 0,
                .pdst = PRED_SINK,
                .pdst2 = PRED_SINK,
                .psrc = {PRED_TRUE, PRED_TRUE, PRED_TRUE},
                .type = TYPE_S32,
                .target = NO_TARGET,
                .reconv = NO_TARGET,
                .address = build->inst->address,
                .line = build->inst->line,
                .column = build->inst->column};
}

void mc_emit(McBuild *build, const Inst *inst) {
  if (build->insts->len > build->first)
    g_array_index(build->insts, Inst, build->insts->len - 1).flags |= INST_FUSED;
  g_array_append_val(build->insts, *inst);
}

int16_t mc_scratch(McBuild *build, unsigned rows) {
  int16_t row = (int16_t)(MC_ROW_SCRATCH + build->scratch);
  build->scratch += (int)rows;
  build->scratch_rows = MAX(build->scratch_rows, build->scratch);
  if (build->scratch > MC_SCRATCH_MAX)
    mc_refuse(build);
  return row;
}

uint8_t mc_scratch_predicate(McBuild *build) {
  if (MC_SCRATCH_PREDICATES + build->scratch_predicates >= PRED_ROWS)
    mc_refuse(build);
  return (uint8_t)MIN(MC_SCRATCH_PREDICATES + build->scratch_predicates++, PRED_ROWS - 1);
}

static int16_t logic(McBuild *build, int16_t a, LogicOp op, uint32_t mask) {
  Inst inst = mc_blank(build, OP_LOP);
  inst.lop = (uint8_t)op;
  inst.a = a;
  inst.b = mc_constant(build, mask);
  inst.dst = mc_scratch(build, 1);
  mc_emit(build, &inst);
  return inst.dst;
}

int16_t mc_signed_value(McBuild *build, const McOperand *operand) {
  int16_t row = mc_value(build, operand);
  if (operand->absolute) {
    Inst inst = mc_blank(build, OP_IABS);
    inst.a = row;
    row = inst.dst = mc_scratch(build, 1);
    mc_emit(build, &inst);
  }
  if (operand->inverted)
    return logic(build, row, LOP_XOR, UINT32_MAX);
  if (!operand->minus)
    return row;
  Inst inst = mc_blank(build, OP_IADD);
  inst.a = mc_constant(build, 0);
  inst.b = row;
  inst.flags |= INST_NEG_B;
  inst.dst = mc_scratch(build, 1);
  mc_emit(build, &inst);
  return inst.dst;
}

int16_t mc_signed_float(McBuild *build, const McOperand *operand) {
  int16_t row = mc_float(build, operand);
  row = operand->absolute ? logic(build, row, LOP_AND, 0x7fffffffu) : row;
  return operand->minus ? logic(build, row, LOP_XOR, 0x80000000u) : row;
}
