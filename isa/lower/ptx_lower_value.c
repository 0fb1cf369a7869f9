/* Registers, constants and operands of the lowering, and how a VInst is appended. */
#include <string.h>

#include "isa/lower/ptx_lower_state.h"

/* -- types -- */

DataType lower_int_type(PtxWord type) {
  bool is_signed = lower_is_signed(type);
  return lower_is_wide(type) ? is_signed ? TYPE_S64 : TYPE_U64 : is_signed ? TYPE_S32 : TYPE_U32;
}

DataType lower_data_type(PtxWord type) {
  static const DataType unsigned_of[] = {[1] = TYPE_U8, [2] = TYPE_U16, [4] = TYPE_U32, [8] = TYPE_U64};
  static const DataType signed_of[] = {[1] = TYPE_S8, [2] = TYPE_S16, [4] = TYPE_S32, [8] = TYPE_S64};
  if (lower_is_half(type))
    return type == PTX_F16 || type == PTX_F16X2 ? TYPE_F16 : TYPE_BF16;
  if (type == PTX_F32 || type == PTX_F64)
    return type == PTX_F32 ? TYPE_F32 : TYPE_F64;
  return (lower_is_signed(type) ? signed_of : unsigned_of)[ptx_type_bytes(type)];
}

/* -- virtual registers and predicates -- */

static int32_t new_register(Lower *lower, uint8_t rows, bool temporary) {
  uint8_t flag = temporary;
  g_byte_array_append(lower->temporary, &flag, 1);
  return vkernel_register(lower->vkernel, rows);
}

static int32_t new_predicate(Lower *lower, bool temporary) {
  uint8_t flag = temporary;
  g_byte_array_append(lower->temporary_preds, &flag, 1);
  return vkernel_predicate(lower->vkernel);
}

Value lower_temp(Lower *lower, uint8_t rows) { return (Value){new_register(lower, rows, true), 0}; }

Pred lower_temp_pred(Lower *lower) { return (Pred){new_predicate(lower, true), false}; }

static uint8_t rows_of(PtxWord type) { return (uint8_t)MAX(ptx_type_bytes(type) / 4, 1); }

static unsigned vector_lanes(const PtxVar *var) { return var->vec == PTX_V4 ? 4 : var->vec == PTX_V2 ? 2 : 1; }

/* An entry: the virtual register (of the first component; the others follow) and the type below it. */
enum { TYPE_BITS = 8 };

static gpointer add_register(Lower *lower, LowerFrame *frame, uint32_t number) {
  const PtxModule *module = lower->module;
  const PtxVar *var = ptx_var(module, ptx_module_register(module, frame->function, number));
  int32_t first = -1;
  for (unsigned lane = 0; lane < vector_lanes(var); lane++) {
    int32_t index =
        var->type == PTX_PRED ? new_predicate(lower, false) : new_register(lower, rows_of((PtxWord)var->type), false);
    if (lane == 0)
      first = index;
  }
  gpointer entry = GSIZE_TO_POINTER((gsize)first << TYPE_BITS | var->type);
  g_hash_table_insert(frame->registers, GSIZE_TO_POINTER((gsize)number + 1), entry);
  return entry;
}

Value lower_register(Lower *lower, LowerFrame *frame, uint32_t number, PtxWord *type) {
  if (!frame->registers)
    frame->registers = g_hash_table_new(NULL, NULL);
  gpointer entry = g_hash_table_lookup(frame->registers, GSIZE_TO_POINTER((gsize)number + 1));
  if (!entry)
    entry = add_register(lower, frame, number);
  *type = (PtxWord)(GPOINTER_TO_SIZE(entry) & ((1u << TYPE_BITS) - 1));
  return (Value){(int32_t)(GPOINTER_TO_SIZE(entry) >> TYPE_BITS), 0};
}

Value lower_operand_register(Lower *lower, const PtxOperand *operand, unsigned lane, PtxWord *type) {
  Value value = lower_register(lower, lower->frame, operand->index, type);
  value.index += (int32_t)(operand->component ? operand->component - 1u : lane);
  return value;
}

/* -- constants -- */

typedef struct ConstKey {
  ConstRef low, high;
  uint32_t wide;
} ConstKey;

static guint hash_const(gconstpointer data) {
  const ConstKey *key = data;
  uint64_t hash = key->low.value * 0x9e3779b97f4a7c15u + key->high.value;
  hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9u + key->low.symbol * 8u + (uint32_t)key->low.kind * 2u + key->wide;
  return (guint)(hash >> 20);
}

static bool same_ref(const ConstRef *a, const ConstRef *b) {
  return a->kind == b->kind && a->value == b->value && a->symbol == b->symbol;
}

static gboolean same_const(gconstpointer x, gconstpointer y) {
  const ConstKey *a = x, *b = y;
  return a->wide == b->wide && same_ref(&a->low, &b->low) && same_ref(&a->high, &b->high);
}

static Value const_rows(Lower *lower, ConstKey key) {
  if (!lower->const_rows)
    lower->const_rows = g_hash_table_new_full(hash_const, same_const, g_free, NULL);
  gpointer known = g_hash_table_lookup(lower->const_rows, &key);
  uint32_t row = known ? GPOINTER_TO_UINT(known) - 1 : lower->consts->len;
  if (!known) {
    if (row + 2 > LOWER_CONSTS_MAX) {
      lower_error(lower, lower->inst->at, "the kernel has more than %d different constants", LOWER_CONSTS_MAX);
      return (Value){-1, 0};
    }
    g_array_append_val(lower->consts, key.low);
    if (key.wide)
      g_array_append_val(lower->consts, key.high);
    g_hash_table_insert(lower->const_rows, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(row + 1));
  }
  return (Value){~(int32_t)row, 0};
}

Value lower_const(Lower *lower, ConstRef ref) { return const_rows(lower, (ConstKey){.low = ref}); }

Value lower_const_pair(Lower *lower, ConstRef low, ConstRef high) {
  return const_rows(lower, (ConstKey){low, high, 1});
}

Value lower_imm(Lower *lower, uint32_t bits) {
  return lower_const(lower, (ConstRef){.kind = CONST_IMMEDIATE, .value = bits});
}

Value lower_imm64(Lower *lower, uint64_t bits) {
  return lower_const_pair(lower, (ConstRef){.kind = CONST_IMMEDIATE, .value = (uint32_t)bits},
                          (ConstRef){.kind = CONST_IMMEDIATE, .value = (uint32_t)(bits >> 32)});
}

Value lower_row(Value value, unsigned row) {
  if (value.index < 0)
    value.index -= (int32_t)row;
  else if (value.index != VREG_SINK)
    value.row = (uint8_t)(value.row + row);
  return value;
}

/* -- VInsts -- */

/* Which operands of an opcode are always 64-bit values. */
static uint8_t wide_of(Opcode op) {
  enum { D = WIDE_DST, A = WIDE_A, B = WIDE_B, C = WIDE_C };
  switch (op) {
  case OP_MOV64:
  case OP_SHL64:
  case OP_SHR64:
  case OP_IABS64:
  case OP_BREV64:
  case OP_BFE64:
  case OP_DMUFU: return D | A;
  case OP_IADD64:
  case OP_ISUB64:
  case OP_IMUL64:
  case OP_LOP64:
  case OP_IMNMX64:
  case OP_SEL64:
  case OP_IDIV64:
  case OP_IREM64:
  case OP_DADD:
  case OP_DMUL:
  case OP_DMNMX:
  case OP_DDIV: return D | A | B;
  case OP_IMAD64:
  case OP_DFMA: return D | A | B | C;
  case OP_BFI64: return D | A | C;
  case OP_IMULW: return D;
  case OP_IMADW: return D | C;
  case OP_ISETP64:
  case OP_DSETP: return A | B;
  case OP_POPC64:
  case OP_FLO64: return A;
  default: return 0;
  }
}

VInst *lower_op0(Lower *lower, Opcode op) {
  VInst vinst = vinst_new(op);
  vinst_set_place(&vinst, &lower->place);
  vinst.inst.wide = wide_of(op);
  vinst.rolled = lower->rolled;
  lower->rolled = false;
  vinst.guard = lower->guard.index;
  if (lower->guard.negated)
    vinst.inst.flags |= INST_GUARD_NOT;
  g_array_append_val(lower->vkernel->insts, vinst);
  return &g_array_index(lower->vkernel->insts, VInst, lower->vkernel->insts->len - 1);
}

VInst *lower_op1(Lower *lower, Opcode op, Value dst, Value a) {
  VInst *vinst = lower_op0(lower, op);
  vinst->dst = dst.index;
  vinst->dst_row = dst.row;
  vinst->a = a.index;
  vinst->a_row = a.row;
  return vinst;
}

VInst *lower_op2(Lower *lower, Opcode op, Value dst, Value a, Value b) {
  VInst *vinst = lower_op1(lower, op, dst, a);
  vinst->b = b.index;
  vinst->b_row = b.row;
  return vinst;
}

VInst *lower_op3(Lower *lower, Opcode op, Value dst, Value a, Value b, Value c) {
  VInst *vinst = lower_op2(lower, op, dst, a, b);
  vinst->c = c.index;
  vinst->c_row = c.row;
  return vinst;
}

void lower_set_psrc(VInst *vinst, unsigned i, Pred pred) {
  vinst->psrc[i] = pred.index;
  vinst->inst.psrc_not = (uint8_t)((vinst->inst.psrc_not & ~(1u << i)) | (uint32_t)pred.negated << i);
}

Value lower_to_temp(Lower *lower, Opcode op, DataType type, Value a, Value b) {
  Value temp = lower_temp(lower, wide_of(op) & WIDE_DST ? 2 : 1);
  lower_op2(lower, op, temp, a, b)->inst.type = (uint8_t)type;
  return temp;
}

void lower_move(Lower *lower, Value dst, Value src, bool wide) {
  if (dst.index != VREG_SINK && (dst.index != src.index || dst.row != src.row))
    lower_op1(lower, wide ? OP_MOV64 : OP_MOV, dst, src);
}

void lower_move_as(Lower *lower, PtxWord type, Value dst, Value src) {
  unsigned rows = rows_of(type);
  for (unsigned row = 0; row < rows; row += 2)
    lower_move(lower, lower_row(dst, row), lower_row(src, row), rows > 1);
}

void lower_logic(Lower *lower, LogicOp lop, Value dst, Value a, Value b) {
  lower_op2(lower, OP_LOP, dst, a, b)->inst.lop = (uint8_t)lop;
}

void lower_select(Lower *lower, Value dst, Value a, Value b, Pred pred, bool wide) {
  lower_set_psrc(lower_op2(lower, wide ? OP_SEL64 : OP_SEL, dst, a, b), 0, pred);
}

Pred lower_compare(Lower *lower, CmpOp cmp, DataType type, Value a, Value b) {
  Pred pred = lower_temp_pred(lower);
  bool wide = type == TYPE_S64 || type == TYPE_U64;
  VInst *vinst = lower_op2(lower, wide ? OP_ISETP64 : OP_ISETP, VALUE_SINK, a, b);
  vinst->inst.cmp = (uint8_t)cmp;
  vinst->inst.type = (uint8_t)type;
  vinst->pdst = pred.index;
  return pred;
}

int32_t lower_begin_skip(Lower *lower) {
  if (lower->guard.index == VPRED_TRUE && !lower->guard.negated)
    return NO_TARGET;
  lower->guard.negated = !lower->guard.negated;
  lower_op0(lower, OP_BRA);
  lower->guard = PRED_ALWAYS;
  return (int32_t)lower->vkernel->insts->len - 1;
}

void lower_end_skip(Lower *lower, int32_t skip) {
  if (skip != NO_TARGET)
    g_array_index(lower->vkernel->insts, VInst, skip).inst.target = (int32_t)lower->vkernel->insts->len;
}

/* -- reading -- */

Value lower_extend(Lower *lower, Value value, unsigned bits, bool is_signed) {
  return lower_to_temp(lower, OP_BFE, is_signed ? TYPE_S32 : TYPE_U32, value, lower_imm(lower, bits << 8));
}

static Value read_register(Lower *lower, const PtxOperand *operand, PtxWord type) {
  PtxWord have;
  Value value = lower_operand_register(lower, operand, 0, &have);
  unsigned bytes = ptx_type_bytes(type);
  if (bytes >= 4 || (bytes == ptx_type_bytes(have) && !lower_is_signed(type)))
    return value;
  return lower_extend(lower, value, bytes * 8, lower_is_signed(type));
}

static uint32_t float_bits(double value) {
  float narrow = (float)value;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  return bits;
}

static Value read_float(Lower *lower, const PtxOperand *operand, PtxWord type) {
  uint32_t low = (uint32_t)operand->bits;
  uint64_t all = operand->bits;
  float narrow;
  double value;
  memcpy(&narrow, &low, sizeof narrow);
  memcpy(&value, &all, sizeof value);
  if (operand->kind == PTX_OPERAND_F32) {
    value = narrow;
    memcpy(&all, &value, sizeof all);
  } else {
    low = float_bits(value);
  }
  if (lower_is_wide(type))
    return lower_imm64(lower, all);
  if (ptx_type_bytes(type) < 4)
    lower_error(lower, operand->at, "a float of %u bits isn't supported", ptx_type_bytes(type) * 8);
  return lower_imm(lower, low);
}

/* 128 bits, of which an immediate has 64; ptxas 13.0 puts zeros above -1, too. */
static Value read_four_words(Lower *lower, uint64_t low) {
  Value value = lower_temp(lower, rows_of(PTX_B128));
  lower_move(lower, value, lower_imm64(lower, low), true);
  lower_move(lower, lower_row(value, 2), lower_imm64(lower, 0), true);
  return value;
}

static Value read_integer(Lower *lower, const PtxOperand *operand, PtxWord type) {
  if (type == PTX_B128)
    return read_four_words(lower, operand->bits);
  unsigned unused = 64 - ptx_type_bytes(type) * 8;
  uint64_t bits = operand->bits << unused;
  bits = lower_is_signed(type) ? (uint64_t)((int64_t)bits >> unused) : bits >> unused;
  return lower_is_wide(type) ? lower_imm64(lower, bits) : lower_imm(lower, (uint32_t)bits);
}

/* Of clusters that may have several blocks; SR_COUNT: it isn't one of theirs. */
static SpecialReg cluster_register(PtxSpecial special) {
  switch (special) {
  case PTX_SR_CLUSTERID_X: return SR_CLUSTERID_X;
  case PTX_SR_CLUSTERID_Y: return SR_CLUSTERID_Y;
  case PTX_SR_CLUSTERID_Z: return SR_CLUSTERID_Z;
  case PTX_SR_NCLUSTERID_X: return SR_NCLUSTERID_X;
  case PTX_SR_NCLUSTERID_Y: return SR_NCLUSTERID_Y;
  case PTX_SR_NCLUSTERID_Z: return SR_NCLUSTERID_Z;
  case PTX_SR_CLUSTER_CTAID_X: return SR_CLUSTER_CTAID_X;
  case PTX_SR_CLUSTER_CTAID_Y: return SR_CLUSTER_CTAID_Y;
  case PTX_SR_CLUSTER_CTAID_Z: return SR_CLUSTER_CTAID_Z;
  case PTX_SR_CLUSTER_NCTAID_X: return SR_CLUSTER_NCTAID_X;
  case PTX_SR_CLUSTER_NCTAID_Y: return SR_CLUSTER_NCTAID_Y;
  case PTX_SR_CLUSTER_NCTAID_Z: return SR_CLUSTER_NCTAID_Z;
  case PTX_SR_CLUSTER_CTARANK: return SR_CLUSTER_CTARANK;
  case PTX_SR_CLUSTER_NCTARANK: return SR_CLUSTER_NCTARANK;
  default: return SR_COUNT;
  }
}

/* Blocks of a cluster of one block, so that the cluster's numbers are the grid's. */
static SpecialReg special_register(PtxSpecial special, int64_t *fixed) {
  *fixed = -1;
  switch (special) {
  case PTX_SR_TID_X: return SR_TID_X;
  case PTX_SR_TID_Y: return SR_TID_Y;
  case PTX_SR_TID_Z: return SR_TID_Z;
  case PTX_SR_NTID_X: return SR_NTID_X;
  case PTX_SR_NTID_Y: return SR_NTID_Y;
  case PTX_SR_NTID_Z: return SR_NTID_Z;
  case PTX_SR_CTAID_X:
  case PTX_SR_CLUSTERID_X: return SR_CTAID_X;
  case PTX_SR_CTAID_Y:
  case PTX_SR_CLUSTERID_Y: return SR_CTAID_Y;
  case PTX_SR_CTAID_Z:
  case PTX_SR_CLUSTERID_Z: return SR_CTAID_Z;
  case PTX_SR_NCTAID_X:
  case PTX_SR_NCLUSTERID_X: return SR_NCTAID_X;
  case PTX_SR_NCTAID_Y:
  case PTX_SR_NCLUSTERID_Y: return SR_NCTAID_Y;
  case PTX_SR_NCTAID_Z:
  case PTX_SR_NCLUSTERID_Z: return SR_NCTAID_Z;
  case PTX_SR_LANEID: return SR_LANEID;
  case PTX_SR_WARPID: return SR_WARPID;
  case PTX_SR_NWARPID: return SR_NWARPID;
  case PTX_SR_SMID: return SR_SMID;
  case PTX_SR_NSMID: return SR_NSMID;
  case PTX_SR_GRIDID: return SR_GRIDID;
  case PTX_SR_LANEMASK_EQ: return SR_LANEMASK_EQ;
  case PTX_SR_LANEMASK_LE: return SR_LANEMASK_LE;
  case PTX_SR_LANEMASK_LT: return SR_LANEMASK_LT;
  case PTX_SR_LANEMASK_GE: return SR_LANEMASK_GE;
  case PTX_SR_LANEMASK_GT: return SR_LANEMASK_GT;
  case PTX_SR_CLOCK: return SR_CLOCKLO;
  case PTX_SR_CLOCK_HI: return SR_CLOCKHI;
  case PTX_SR_CLOCK64: return SR_CLOCK64;
  case PTX_SR_GLOBALTIMER: return SR_GLOBALTIMER;
  case PTX_SR_GLOBALTIMER_LO: return SR_GLOBALTIMERLO;
  case PTX_SR_GLOBALTIMER_HI: return SR_GLOBALTIMERHI;
  case PTX_SR_TOTAL_SMEM_SIZE:
  case PTX_SR_AGGR_SMEM_SIZE: return SR_SHARED_BYTES;
  case PTX_SR_DYNAMIC_SMEM_SIZE: return SR_DYNAMIC_SHARED_BYTES;
  case PTX_SR_ENVREG1: return SR_ENVREG1;
  case PTX_SR_ENVREG2: return SR_ENVREG2;
  case PTX_SR_CLUSTER_NCTAID_X:
  case PTX_SR_CLUSTER_NCTAID_Y:
  case PTX_SR_CLUSTER_NCTAID_Z:
  case PTX_SR_CLUSTER_NCTARANK: *fixed = 1; break;
  default: *fixed = 0; break;
  }
  return SR_LANEID;
}

static Value read_reserved(Lower *lower, PtxSpecial special) {
  lower_needs(lower, 80, "%reserved_smem_offset");
  switch (special) {
  case PTX_SR_RESERVED_SMEM_OFFSET_END: return lower_imm(lower, lower->reserved_byte + LOWER_RESERVED_BYTES);
  case PTX_SR_RESERVED_SMEM_OFFSET_CAP: return lower_imm(lower, LOWER_RESERVED_BYTES);
  case PTX_SR_RESERVED_SMEM_OFFSET_1: return lower_imm(lower, lower->reserved_byte + LOWER_RESERVED_1);
  default: return lower_imm(lower, lower->reserved_byte);
  }
}

static Value read_special(Lower *lower, const PtxOperand *operand) {
  PtxSpecial special = (PtxSpecial)operand->index;
  if (special >= PTX_SR_RESERVED_SMEM_OFFSET_BEGIN && special <= PTX_SR_RESERVED_SMEM_OFFSET_1)
    return read_reserved(lower, special);
  int64_t fixed = -1;
  SpecialReg which = lower->kernel->ranked ? cluster_register(special) : SR_COUNT;
  if (which == SR_COUNT)
    which = special_register(special, &fixed);
  if (special >= PTX_SR_PM0 && special <= PTX_SR_PM7)
    lower_error(lower, operand->at, "%%%s isn't supported: there are no performance monitors",
                ptx_special_name(special));
  if (fixed >= 0)
    return lower_imm(lower, (uint32_t)fixed);
  bool wide = lower_is_wide(ptx_special_type(special));
  Value value = lower_temp(lower, wide ? 2 : 1);
  VInst *vinst = lower_op0(lower, OP_S2R);
  vinst->dst = value.index;
  vinst->inst.mode = (uint8_t)which;
  vinst->inst.wide = wide ? WIDE_DST : 0;
  return value;
}

Value lower_value_of(Lower *lower, const PtxOperand *operand, PtxWord type) {
  bool wide = lower_is_wide(type);
  switch ((PtxOperandKind)operand->kind) {
  case PTX_OPERAND_REG: return read_register(lower, operand, type);
  case PTX_OPERAND_INTEGER: return read_integer(lower, operand, type);
  case PTX_OPERAND_F32:
  case PTX_OPERAND_F64: return read_float(lower, operand, type);
  case PTX_OPERAND_SPECIAL: {
    Value value = read_special(lower, operand);
    unsigned bytes = ptx_type_bytes(type);
    return bytes < 4 ? lower_extend(lower, value, bytes * 8, lower_is_signed(type)) : value;
  }
  case PTX_OPERAND_VAR: return lower_address(lower, operand, wide, 0);
  case PTX_OPERAND_FUNCTION: /* a number that only a call takes */
    return wide ? lower_imm64(lower, operand->index + 1) : lower_imm(lower, operand->index + 1);
  default: lower_error(lower, operand->at, "this operand isn't supported here"); return lower_imm64(lower, 0);
  }
}

Value lower_low_bits(Lower *lower, const PtxOperand *operand, PtxWord type) {
  PtxWord have;
  return operand->kind == PTX_OPERAND_REG ? lower_operand_register(lower, operand, 0, &have)
                                          : lower_value_of(lower, operand, type);
}

unsigned lower_lanes(const PtxInst *inst) { return inst->mods.vec == PTX_V4 ? 4 : inst->mods.vec == PTX_V2 ? 2 : 1; }

PtxOperand lower_lane(const Lower *lower, const PtxOperand *operand, unsigned lane) {
  if (operand->kind == PTX_OPERAND_VECTOR)
    return *lower_part(lower, operand, lane);
  PtxOperand part = *operand;
  if (lower->inst->mods.vec && operand->kind == PTX_OPERAND_REG && !operand->component)
    part.component = (lane + 1) & 7;
  return part;
}

Value lower_value(Lower *lower, unsigned i, PtxWord type) {
  return lower_value_of(lower, lower_operand(lower, i), type);
}

Pred lower_pred_of(Lower *lower, const PtxOperand *operand) {
  if (operand->kind == PTX_OPERAND_INTEGER)
    return (Pred){VPRED_TRUE, (operand->bits != 0) == operand->negated};
  PtxWord type;
  return (Pred){lower_operand_register(lower, operand, 0, &type).index, operand->negated};
}

Pred lower_pred(Lower *lower, unsigned i) { return lower_pred_of(lower, lower_operand(lower, i)); }

/* -- writing -- */

int32_t lower_pred_result(Lower *lower, const PtxOperand *operand) {
  PtxWord type;
  return operand->kind == PTX_OPERAND_SINK ? VPRED_SINK : lower_operand_register(lower, operand, 0, &type).index;
}

Result lower_result_of(Lower *lower, const PtxOperand *operand, PtxWord type) {
  Result result = {.value = VALUE_SINK, .reg = VALUE_SINK, .type = (uint8_t)type};
  if (operand->kind == PTX_OPERAND_SINK)
    return result;
  PtxWord have;
  result.value = result.reg = lower_operand_register(lower, operand, 0, &have);
  result.reg_bytes = (uint8_t)ptx_type_bytes(have);
  if (ptx_type_bytes(type) < 4)
    result.value = lower_temp(lower, 1);
  return result;
}

Result lower_result(Lower *lower, unsigned i, PtxWord type) {
  return lower_result_of(lower, lower_operand(lower, i), type);
}

/* The result of an immediate, without an instruction that cuts it; false if it isn't one. */
static bool finish_constant(Lower *lower, const Result *result) {
  const ConstRef *ref =
      result->value.index < 0 ? &g_array_index(lower->consts, ConstRef, ~result->value.index) : NULL;
  unsigned unused = 32 - ptx_type_bytes((PtxWord)result->type) * 8;
  if (!ref || ref->kind != CONST_IMMEDIATE)
    return false;
  uint32_t bits = ref->value << unused;
  bits = lower_is_signed((PtxWord)result->type) ? (uint32_t)((int32_t)bits >> unused) : bits >> unused;
  if (result->reg_bytes < 4)
    bits &= (1u << result->reg_bytes * 8) - 1;
  lower_move(lower, result->reg, lower_imm(lower, bits), false);
  return true;
}

static void extend_high(Lower *lower, const Result *result) {
  Value high = lower_row(result->reg, 1);
  if (lower_is_signed((PtxWord)result->type))
    lower_op2(lower, OP_SHR, high, result->reg, lower_imm(lower, 31))->inst.type = TYPE_S32;
  else
    lower_move(lower, high, lower_imm(lower, 0), false);
}

/* A narrow value is extended to what the register holds: zeros above its own width, and up to there what the type
 * says. */
void lower_extract(Lower *lower, const Result *result, Value row, unsigned bit) {
  unsigned bits = ptx_type_bytes((PtxWord)result->type) * 8, reg_bits = result->reg_bytes * 8u;
  bool is_signed = lower_is_signed((PtxWord)result->type), narrow = reg_bits < 32;
  if (result->reg.index == VREG_SINK)
    return;
  if (narrow && is_signed && reg_bits > bits) {
    Value temp = lower_temp(lower, 1);
    lower_op2(lower, OP_BFE, temp, row, lower_imm(lower, bits << 8 | bit));
    row = temp;
    bits = reg_bits;
    bit = 0;
  }
  lower_op2(lower, OP_BFE, result->reg, row, lower_imm(lower, bits << 8 | bit))->inst.type =
      is_signed && !narrow ? TYPE_S32 : TYPE_U32;
  if (result->reg_bytes == 8)
    extend_high(lower, result);
}

void lower_finish(Lower *lower, const Result *result) {
  unsigned bytes = ptx_type_bytes((PtxWord)result->type);
  if (result->reg.index == VREG_SINK)
    return;
  if (bytes < 4 && !finish_constant(lower, result))
    lower_extract(lower, result, result->value, 0);
  else if (bytes < 8 && result->reg_bytes == 8)
    extend_high(lower, result);
}

void lower_take(Lower *lower, const PtxOperand *operand, PtxWord type, Value word, unsigned byte) {
  Result result = lower_result_of(lower, operand, type);
  if (ptx_type_bytes(type) < 4) {
    lower_extract(lower, &result, word, byte * 8);
    return;
  }
  lower_move_as(lower, type, result.value, word);
  lower_finish(lower, &result);
}

void lower_store_result(Lower *lower, const PtxOperand *operand, PtxWord type, Value value) {
  Result result = lower_result_of(lower, operand, type);
  if (ptx_type_bytes(type) < 4)
    result.value = value;
  else
    lower_move_as(lower, type, result.value, value);
  lower_finish(lower, &result);
}
