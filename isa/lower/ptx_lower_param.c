/* Parameters: those of the kernel are rows of the constant bank, those around calls are registers, word by word.
 * A formal parameter is the caller's variable itself, so that a call costs nothing. */
#include "isa/lower/ptx_lower_state.h"

bool lower_is_kernel_param(const Lower *lower, const LowerFrame *frame, uint32_t var) {
  const PtxFunction *function = frame->function;
  return function->entry && ptx_var(lower->module, var)->space == PTX_PARAM &&
         var - function->first_var < function->nrets + function->nparams;
}

/* -- words of a `.param` variable -- */

static void resolve(LowerFrame **frame, uint32_t *var) {
  gpointer alias;
  while ((*frame)->aliases && (alias = g_hash_table_lookup((*frame)->aliases, GSIZE_TO_POINTER((gsize)*var + 1)))) {
    *var = GPOINTER_TO_UINT(alias) - 1;
    *frame = (*frame)->caller;
  }
}

static gpointer word_key(uint32_t var, uint32_t word) { return GSIZE_TO_POINTER(((gsize)var << 32 | word) + 1); }

static bool find_word(const LowerFrame *frame, uint32_t var, uint32_t word, Value *value) {
  gpointer entry = frame->words ? g_hash_table_lookup(frame->words, word_key(var, word)) : NULL;
  *value = (Value){(int32_t)((GPOINTER_TO_SIZE(entry) >> 1) - 1), GPOINTER_TO_SIZE(entry) & 1};
  return entry != NULL;
}

static void set_word(LowerFrame *frame, uint32_t var, uint32_t word, Value value) {
  gpointer entry = GSIZE_TO_POINTER(((gsize)value.index + 1) << 1 | value.row);
  g_hash_table_insert(frame->words, word_key(var, word), entry);
}

static guint hash_word(gconstpointer key) { return (guint)(GPOINTER_TO_SIZE(key) * 0x9e3779b97f4a7c15u >> 32); }

/* The registers of `bytes` (4 or 8) at a word: one of 2 rows if no part of it was used before. *fresh: it wasn't. */
static Value param_words(Lower *lower, LowerFrame *frame, uint32_t var, uint32_t word, unsigned bytes, Value *second,
                         bool *fresh) {
  Value first;
  resolve(&frame, &var);
  if (!frame->words)
    frame->words = g_hash_table_new(hash_word, NULL);
  bool has_first = find_word(frame, var, word, &first);
  bool has_second = bytes == 8 && find_word(frame, var, word + 1, second);
  *fresh = !has_first;
  if (bytes == 8 && !has_first && !has_second) {
    first = lower_temp(lower, 2);
    *second = lower_row(first, 1);
    set_word(frame, var, word, first);
    set_word(frame, var, word + 1, *second);
    lower->temporary->data[first.index] = 0;
    return first;
  }
  if (!has_first) {
    set_word(frame, var, word, first = lower_temp(lower, 1));
    lower->temporary->data[first.index] = 0;
  }
  if (bytes == 8 && !has_second) {
    set_word(frame, var, word + 1, *second = lower_temp(lower, 1));
    lower->temporary->data[second->index] = 0;
  }
  return first;
}

static Value read_words(Lower *lower, LowerFrame *frame, uint32_t var, uint32_t byte, unsigned bytes) {
  if (lower_is_kernel_param(lower, frame, var)) {
    uint32_t offset = PARAM_BANK_OFFSET + lower->var_byte[var] + byte;
    ConstRef low = {.kind = CONST_BANK, .value = offset}, high = {.kind = CONST_BANK, .value = offset + 4};
    return bytes == 8 ? lower_const_pair(lower, low, high) : lower_const(lower, low);
  }
  Value second;
  bool fresh;
  Value first = param_words(lower, frame, var, byte / 4, bytes, &second, &fresh);
  if (bytes == 4 || (first.index == second.index && second.row == first.row + 1))
    return first;
  Value whole = lower_temp(lower, 2);
  lower_move(lower, whole, first, false);
  lower_move(lower, lower_row(whole, 1), second, false);
  return whole;
}

Value lower_param_value(Lower *lower, LowerFrame *frame, uint32_t var, uint32_t byte, unsigned bytes) {
  if (bytes <= 8)
    return read_words(lower, frame, var, byte, bytes == 8 ? 8 : 4);
  Value whole = lower_temp(lower, (uint8_t)(bytes / 4));
  for (unsigned at = 0; at < bytes; at += 8)
    lower_move(lower, lower_row(whole, at / 4), read_words(lower, frame, var, byte + at, 8), true);
  return whole;
}

/* A byte or half-word goes into its word; what is first written to one is all of it. */
static void store_narrow(Lower *lower, Value word, bool fresh, uint32_t byte, unsigned bytes, Value value) {
  if (fresh && byte % 4 == 0)
    lower_op2(lower, OP_BFE, word, value, lower_imm(lower, bytes * 8 << 8))->inst.type = TYPE_U32;
  else if (fresh)
    lower_op2(lower, OP_SHL, word, value, lower_imm(lower, byte % 4 * 8));
  else
    lower_op3(lower, OP_BFI, word, value, lower_imm(lower, bytes * 8 << 8 | byte % 4 * 8), word);
}

void lower_param_store(Lower *lower, LowerFrame *frame, uint32_t var, uint32_t byte, PtxWord type, Value value) {
  unsigned bytes = ptx_type_bytes(type);
  for (unsigned at = 0; bytes > 8 && at < bytes; at += 8)
    lower_param_store(lower, frame, var, byte + at, PTX_B64, lower_row(value, at / 4));
  if (bytes > 8)
    return;
  Value second = VALUE_SINK;
  bool fresh;
  Value first = param_words(lower, frame, var, byte / 4, bytes == 8 ? 8 : 4, &second, &fresh);
  if (bytes < 4) {
    store_narrow(lower, first, fresh, byte, bytes, value);
  } else if (bytes == 4) {
    lower_move(lower, first, value, false);
  } else if (first.index == second.index && second.row == first.row + 1) {
    lower_move(lower, first, value, true);
  } else {
    lower_move(lower, first, value, false);
    lower_move(lower, second, lower_row(value, 1), false);
  }
}

/* -- ld.param and st.param -- */

/* The byte that an access at a variable begins at; false after an error. */
static bool check_access(Lower *lower, const PtxOperand *address, unsigned bytes, unsigned lanes) {
  const PtxVar *var = ptx_var(lower->module, address->index);
  const char *name = ptx_module_name(lower->module, var->name);
  uint32_t first = (uint32_t)address->offset;
  if (address->offset < 0 || (uint64_t)first + bytes * lanes > MAX(ptx_var_bytes(var), 1))
    return lower_error(lower, address->at, "this access lies outside of `%s`, which has %u bytes", name,
                       (unsigned)ptx_var_bytes(var));
  if ((first + lower->var_byte[address->index]) % MIN(bytes, 4u) || first % MIN(bytes, 4u))
    return lower_error(lower, address->at, "byte %u of `%s` isn't aligned for this access", first, name);
  return true;
}

static void load_lane(Lower *lower, const PtxOperand *address, const PtxOperand *dst, uint32_t byte) {
  PtxWord type = (PtxWord)lower->inst->mods.type;
  unsigned bytes = ptx_type_bytes(type);
  if (dst->kind == PTX_OPERAND_SINK)
    return;
  Value value = lower_param_value(lower, lower->frame, address->index, byte & ~3u, bytes);
  lower_take(lower, dst, type, value, byte % 4);
}

void lower_param_load(Lower *lower) {
  const PtxInst *inst = lower->inst;
  const PtxOperand *address = lower_operand(lower, 1);
  unsigned bytes = ptx_type_bytes((PtxWord)inst->mods.type), lanes = lower_lanes(inst);
  if (!check_access(lower, address, bytes, lanes))
    return;
  for (unsigned lane = 0; lane < lanes; lane++) {
    PtxOperand dst = lower_lane(lower, lower_operand(lower, 0), lane);
    load_lane(lower, address, &dst, (uint32_t)address->offset + lane * bytes);
  }
}

void lower_param_write(Lower *lower) {
  const PtxInst *inst = lower->inst;
  const PtxOperand *address = lower_operand(lower, 0);
  PtxWord type = (PtxWord)inst->mods.type;
  unsigned bytes = ptx_type_bytes(type), lanes = lower_lanes(inst);
  if (lower_is_kernel_param(lower, lower->frame, address->index)) {
    lower_error(lower, inst->at, "a kernel can't write its parameters");
    return;
  }
  if (!check_access(lower, address, bytes, lanes))
    return;
  for (unsigned lane = 0; lane < lanes; lane++) {
    PtxOperand src = lower_lane(lower, lower_operand(lower, 1), lane);
    lower_param_store(lower, lower->frame, address->index, (uint32_t)address->offset + lane * bytes, type,
                      lower_value_of(lower, &src, type));
  }
}
