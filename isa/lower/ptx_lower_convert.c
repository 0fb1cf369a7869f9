/* Comparison, selection, moves and conversion. */
#include "isa/lower/ptx_lower_state.h"

/* -- setp, set, selp, slct -- */

static CmpOp compare_op(const PtxInst *inst) {
  static const uint8_t cmps[PTX_WORD_COUNT] = {
      [PTX_EQ] = CMP_EQ,   [PTX_NE] = CMP_NE,   [PTX_LT] = CMP_LT,   [PTX_LE] = CMP_LE,   [PTX_GT] = CMP_GT,
      [PTX_GE] = CMP_GE,   [PTX_LO] = CMP_LT,   [PTX_LS] = CMP_LE,   [PTX_HI] = CMP_GT,   [PTX_HS] = CMP_GE,
      [PTX_EQU] = CMP_EQU, [PTX_NEU] = CMP_NEU, [PTX_LTU] = CMP_LTU, [PTX_LEU] = CMP_LEU, [PTX_GTU] = CMP_GTU,
      [PTX_GEU] = CMP_GEU, [PTX_NUM] = CMP_NUM, [PTX_NAN] = CMP_NAN};
  return (CmpOp)cmps[inst->mods.cmp];
}

/* lo, ls, hi and hs compare without sign, whatever the type. */
static PtxWord compare_type(const PtxInst *inst, PtxWord type) {
  bool is_unsigned =
      inst->mods.cmp == PTX_LO || inst->mods.cmp == PTX_LS || inst->mods.cmp == PTX_HI || inst->mods.cmp == PTX_HS;
  if (!is_unsigned || !lower_is_signed(type))
    return type;
  return type == PTX_S64 ? PTX_U64 : type == PTX_S32 ? PTX_U32 : PTX_U16;
}

static LogicOp bool_op(const PtxInst *inst) {
  return inst->mods.boolop == PTX_OR ? LOP_OR : inst->mods.boolop == PTX_XOR ? LOP_XOR : LOP_AND;
}

VInst *lower_comparison(Lower *lower, Opcode op, Value dst, PtxWord type) {
  const PtxInst *inst = lower->inst;
  bool is_float = ptx_type_kind(type) == PTX_KIND_FLOAT;
  type = compare_type(inst, type);
  Value a = lower_value(lower, 1, type), b = lower_value(lower, 2, type);
  Pred other = inst->mods.boolop ? lower_pred(lower, 3) : PRED_ALWAYS;
  VInst *vinst = lower_op2(lower, op, dst, a, b);
  vinst->inst.cmp = (uint8_t)compare_op(inst);
  vinst->inst.lop = (uint8_t)bool_op(inst);
  vinst->inst.type = is_float ? 0 : (uint8_t)lower_int_type(type);
  vinst->inst.flags |= inst->mods.flags & PTX_FLAG_FTZ ? (uint32_t)INST_FTZ : 0;
  lower_set_psrc(vinst, 0, other);
  return vinst;
}

static Opcode setp_op(PtxWord type) {
  bool wide = lower_is_wide(type);
  if (ptx_type_kind(type) == PTX_KIND_FLOAT)
    return wide ? OP_DSETP : OP_FSETP;
  return wide ? OP_ISETP64 : OP_ISETP;
}

void lower_SETP(Lower *lower, const PtxInst *inst) {
  const PtxOperand *first = lower_operand(lower, 0);
  bool pair = first->kind == PTX_OPERAND_PAIR;
  int32_t pdst = lower_pred_result(lower, pair ? lower_part(lower, first, 0) : first);
  int32_t pdst2 = pair ? lower_pred_result(lower, lower_part(lower, first, 1)) : VPRED_SINK;
  if (lower_is_half((PtxWord)inst->mods.type)) {
    lower_half_setp(lower, pdst, pdst2);
    return;
  }
  VInst *vinst = lower_comparison(lower, setp_op((PtxWord)inst->mods.type), VALUE_SINK, (PtxWord)inst->mods.type);
  vinst->pdst = pdst;
  vinst->pdst2 = pdst2;
}

void lower_SET(Lower *lower, const PtxInst *inst) {
  PtxWord type = (PtxWord)inst->mods.type2;
  if (lower_is_half(type)) {
    lower_half_set(lower);
    return;
  }
  Opcode op = setp_op(type);
  bool to_float = inst->mods.type == PTX_F32;
  Result result = lower_result(lower, 0, (PtxWord)inst->mods.type);
  if (op == OP_ISETP) {
    lower_comparison(lower, OP_ISET, result.value, type)->inst.flags |= to_float ? (uint32_t)INST_BF : 0;
    return;
  }
  Pred holds = lower_temp_pred(lower);
  lower_comparison(lower, op, VALUE_SINK, type)->pdst = holds.index;
  lower_select(lower, result.value, lower_imm(lower, to_float ? 0x3f800000 : UINT32_MAX), lower_imm(lower, 0), holds,
               false);
}

void lower_SELP(Lower *lower, const PtxInst *inst) {
  PtxWord type = (PtxWord)inst->mods.type;
  Result result = lower_result(lower, 0, type);
  Value a = lower_value(lower, 1, type), b = lower_value(lower, 2, type);
  lower_select(lower, result.value, a, b, lower_pred(lower, 3), lower_is_wide(type));
  lower_finish(lower, &result);
}

/* NaN isn't >= 0, and selects b. */
void lower_SLCT(Lower *lower, const PtxInst *inst) {
  PtxWord type = (PtxWord)inst->mods.type;
  bool by_float = inst->mods.type2 == PTX_F32;
  Result result = lower_result(lower, 0, type);
  Value a = lower_value(lower, 1, type), b = lower_value(lower, 2, type);
  Value c = lower_value(lower, 3, (PtxWord)inst->mods.type2);
  Pred first = lower_temp_pred(lower);
  VInst *vinst = lower_op2(lower, by_float ? OP_FSETP : OP_ISETP, VALUE_SINK, c, lower_imm(lower, 0));
  vinst->inst.cmp = CMP_GE;
  vinst->inst.flags |= inst->mods.flags & PTX_FLAG_FTZ ? (uint32_t)INST_FTZ : 0;
  vinst->pdst = first.index;
  lower_select(lower, result.value, a, b, first, lower_is_wide(type));
  lower_finish(lower, &result);
}

/* -- mov -- */

/* %is_explicit_cluster. */
static void is_cluster(Lower *lower) {
  if (!lower_needs(lower, 90, "%is_explicit_cluster"))
    return;
  int32_t pdst = lower_pred_result(lower, lower_operand(lower, 0));
  Value set = lower_imm(lower, 0);
  if (lower->kernel->ranked) {
    set = lower_temp(lower, 1);
    VInst *read = lower_op0(lower, OP_S2R);
    read->dst = set.index;
    read->inst.mode = SR_IS_CLUSTER;
  }
  VInst *vinst = lower_op2(lower, OP_ISETP, VALUE_SINK, set, lower_imm(lower, 0));
  vinst->inst.cmp = CMP_NE;
  vinst->inst.type = TYPE_U32;
  vinst->pdst = pdst;
}

static void move_pred(Lower *lower) {
  if (lower_operand(lower, 1)->kind == PTX_OPERAND_SPECIAL) {
    is_cluster(lower);
    return;
  }
  Pred a = lower_pred(lower, 1);
  int32_t pdst = lower_pred_result(lower, lower_operand(lower, 0));
  VInst *vinst = lower_op0(lower, OP_PSETP);
  vinst->pdst = pdst;
  lower_set_psrc(vinst, 0, a);
}

static PtxWord bits_type(unsigned bytes) {
  return bytes == 1 ? PTX_B8 : bytes == 2 ? PTX_B16 : bytes == 4 ? PTX_B32 : PTX_B64;
}

/* mov.b64 {a, b}, c: parts of 1 to 8 bytes. */
static void unpack(Lower *lower, const PtxOperand *parts, PtxWord type) {
  unsigned bytes = ptx_type_bytes(type) / MAX(parts->count, 1);
  Value whole = lower_value(lower, 1, type);
  for (unsigned i = 0; i < parts->count; i++) {
    unsigned byte = i * bytes;
    const PtxOperand *part = lower_part(lower, parts, i);
    if (part->kind == PTX_OPERAND_SINK)
      continue;
    Value row = lower_row(whole, byte / 4);
    Result result = lower_result_of(lower, part, bits_type(bytes));
    if (bytes >= 4)
      lower_move(lower, result.value, row, bytes == 8);
    else
      lower_extract(lower, &result, row, byte % 4 * 8);
  }
}

/* The parts of one row, each in front of those below it. */
static Value pack_row(Lower *lower, const PtxOperand *parts, unsigned first, unsigned count, unsigned bytes) {
  Value row = lower_low_bits(lower, lower_part(lower, parts, first), bits_type(bytes));
  for (unsigned i = 1; i < count; i++) {
    Value part = lower_low_bits(lower, lower_part(lower, parts, first + i), bits_type(bytes));
    Value joined = lower_temp(lower, 1);
    lower_op3(lower, OP_BFI, joined, part, lower_imm(lower, bytes * 8 << 8 | i * bytes * 8), row);
    row = joined;
  }
  return row;
}

/* mov.b128 c, {a, b}, or of four parts. */
static void pack_four_words(Lower *lower, const PtxOperand *parts, Value dst) {
  unsigned rows = 4 / MAX(parts->count, 1);
  for (unsigned i = 0; i < parts->count; i++)
    lower_move(lower, lower_row(dst, i * rows),
               lower_value_of(lower, lower_part(lower, parts, i), bits_type(rows * 4)), rows == 2);
}

/* mov.b64 c, {a, b} */
static void pack(Lower *lower, const PtxOperand *parts, PtxWord type) {
  unsigned bytes = ptx_type_bytes(type) / MAX(parts->count, 1), rows = lower_is_wide(type) ? 2 : 1;
  Result result = lower_result(lower, 0, type);
  if (result.value.index == VREG_SINK)
    return;
  if (type == PTX_B128) {
    pack_four_words(lower, parts, result.value);
    return;
  }
  Value row[2];
  for (unsigned i = 0; i < rows; i++)
    row[i] = pack_row(lower, parts, i * parts->count / rows, parts->count / rows, bytes);
  if (rows == 1 && ptx_type_bytes(type) < 4) {
    result.value = row[0];
  } else {
    for (unsigned i = 0; i < rows; i++)
      lower_move(lower, lower_row(result.value, i), row[i], false);
  }
  lower_finish(lower, &result);
}

void lower_MOV(Lower *lower, const PtxInst *inst) {
  PtxWord type = (PtxWord)inst->mods.type;
  const PtxOperand *dst = lower_operand(lower, 0), *src = lower_operand(lower, 1);
  if (type == PTX_PRED)
    move_pred(lower);
  else if (dst->kind == PTX_OPERAND_VECTOR)
    unpack(lower, dst, type);
  else if (src->kind == PTX_OPERAND_VECTOR)
    pack(lower, src, type);
  else if (dst->kind != PTX_OPERAND_SINK)
    lower_store_result(lower, dst, type, lower_value_of(lower, src, type));
}

/* -- cvt -- */

static RoundMode int_round(const PtxInst *inst) {
  switch (inst->mods.round) {
  case PTX_RMI: return ROUND_FLOOR;
  case PTX_RPI: return ROUND_CEIL;
  case PTX_RNI: return ROUND_NEAREST;
  default: return ROUND_TRUNC;
  }
}

static bool rounds_to_integer(const PtxInst *inst) {
  return inst->mods.round >= PTX_RNI && inst->mods.round <= PTX_RPI;
}

static VInst *convert(Lower *lower, Value dst, Value src, PtxWord to, PtxWord from, bool saturate) {
  const PtxInst *inst = lower->inst;
  bool from_int = ptx_type_kind(from) != PTX_KIND_FLOAT, to_int = ptx_type_kind(to) != PTX_KIND_FLOAT;
  VInst *vinst = lower_op1(lower, OP_CVT, dst, src);
  vinst->inst.type = (uint8_t)lower_data_type(to);
  /* a narrow integer has been extended */
  vinst->inst.type2 = from_int ? (uint8_t)lower_int_type(from) : (uint8_t)lower_data_type(from);
  vinst->inst.mode = (uint8_t)int_round(inst);
  vinst->inst.round = (uint8_t)lower_round(inst);
  vinst->inst.flags |=
      (saturate ? (uint32_t)INST_SAT : 0) | (inst->mods.flags & PTX_FLAG_FTZ ? (uint32_t)INST_FTZ : 0);
  if (!from_int && !to_int && rounds_to_integer(inst))
    vinst->inst.flags |= INST_INTEGRAL;
  vinst->inst.wide = (lower_is_wide(to) ? WIDE_DST : 0) | (lower_is_wide(from) ? WIDE_A : 0);
  return vinst;
}

/* Between integers without saturation: cut or extend. */
static void resize(Lower *lower, PtxWord to, PtxWord from) {
  unsigned bytes = ptx_type_bytes(to), source = ptx_type_bytes(from);
  Result result = lower_result(lower, 0, to);
  Value a = lower_value(lower, 1, from);
  if (result.value.index == VREG_SINK)
    return;
  if (bytes < 4) {
    result.value = a;
  } else if (bytes == 8 && source == 8) {
    lower_move(lower, result.value, a, true);
  } else {
    lower_move(lower, result.value, a, false);
    if (bytes == 8 && lower_is_signed(from))
      lower_op2(lower, OP_SHR, lower_row(result.value, 1), a.index < 0 ? a : result.value, lower_imm(lower, 31))
          ->inst.type = TYPE_S32;
    else if (bytes == 8)
      lower_move(lower, lower_row(result.value, 1), lower_imm(lower, 0), false);
  }
  lower_finish(lower, &result);
}

static void int_to_int(Lower *lower, PtxWord to, PtxWord from) {
  if (!(lower->inst->mods.flags & PTX_FLAG_SAT)) {
    resize(lower, to, from);
    return;
  }
  Result result = lower_result(lower, 0, to);
  convert(lower, result.value, lower_value(lower, 1, from), to, from, true);
  lower_finish(lower, &result);
}

static void float_to_int(Lower *lower, PtxWord to, PtxWord from) {
  Result result = lower_result(lower, 0, to);
  Value a = lower_value(lower, 1, from);
  VInst *vinst = convert(lower, result.value, a, to, from, lower->inst->mods.flags & PTX_FLAG_SAT);
  if (from == PTX_F32 && ptx_type_bytes(to) == 4) {
    vinst->inst.op = OP_F2I; /* the same, on Fermi's instruction */
    vinst->inst.type2 = 0;
    vinst->inst.flags &= ~(uint32_t)INST_SAT;
  }
  lower_finish(lower, &result);
}

/* What a float of 16 bits is written to is zero above it. */
static Result float_result(Lower *lower, PtxWord to) {
  Result result = lower_result(lower, 0, to);
  result.value = result.reg;
  return result;
}

static void int_to_float(Lower *lower, PtxWord to, PtxWord from) {
  bool saturate = lower->inst->mods.flags & PTX_FLAG_SAT;
  Result result = float_result(lower, to);
  Value a = lower_value(lower, 1, from);
  VInst *vinst = convert(lower, result.value, a, to, from, saturate && to != PTX_F64);
  if (to == PTX_F32 && !lower_is_wide(from) && !saturate && vinst->inst.round == FROUND_NEAREST) {
    vinst->inst.op = OP_I2F;
    vinst->inst.type = vinst->inst.type2;
    vinst->inst.type2 = vinst->inst.mode = 0;
    vinst->inst.flags &= ~(uint32_t)INST_FTZ;
  }
  if (saturate && to == PTX_F64)
    lower_saturate64(lower, result.value, result.value);
}

/* To the same type and without rounding: nothing but .ftz and .sat, which an addition of -0 does. */
static void same_float(Lower *lower, Value dst, Value a, PtxWord type) {
  const PtxInst *inst = lower->inst;
  if (type == PTX_F32 && inst->mods.flags & (PTX_FLAG_SAT | PTX_FLAG_FTZ)) {
    VInst *vinst = lower_op2(lower, OP_FADD, dst, a, lower_imm(lower, 0x80000000));
    vinst->inst.flags |= (inst->mods.flags & PTX_FLAG_FTZ ? (uint32_t)INST_FTZ : 0) |
                         (inst->mods.flags & PTX_FLAG_SAT ? (uint32_t)INST_SAT : 0);
  } else {
    lower_move(lower, dst, a, type == PTX_F64);
  }
}

static void float_to_float(Lower *lower, PtxWord to, PtxWord from) {
  const PtxInst *inst = lower->inst;
  bool saturate = inst->mods.flags & PTX_FLAG_SAT;
  Result result = float_result(lower, to);
  Value a = lower_value(lower, 1, from);
  if (to == from && !rounds_to_integer(inst))
    same_float(lower, result.value, a, to);
  else
    convert(lower, result.value, a, to, from, saturate && to != PTX_F64);
  if (saturate && to == PTX_F64)
    lower_saturate64(lower, result.value, result.value);
}

/* sm_80 has bf16 from and to f32 only. */
static bool is_newer(PtxWord to, PtxWord from) { return to != PTX_F32 && from != PTX_F32; }

void lower_CVT(Lower *lower, const PtxInst *inst) {
  PtxWord to = (PtxWord)inst->mods.type, from = (PtxWord)inst->mods.type2;
  bool to_float = ptx_type_kind(to) == PTX_KIND_FLOAT, from_float = ptx_type_kind(from) == PTX_KIND_FLOAT;
  if (lower_operand(lower, 0)->kind == PTX_OPERAND_SINK)
    return;
  if ((to == PTX_BF16 || from == PTX_BF16) && !lower_needs(lower, is_newer(to, from) ? 90 : 80, "this conversion"))
    return;
  if (to == PTX_F16X2 || to == PTX_BF16X2)
    lower_half_pack(lower);
  else if (to_float)
    (from_float ? float_to_float : int_to_float)(lower, to, from);
  else
    (from_float ? float_to_int : int_to_int)(lower, to, from);
}

/* -- generic addresses -- */

static bool is_shared(uint8_t space) {
  return space == PTX_SHARED || space == PTX_SHARED_CTA || space == PTX_SHARED_CLUSTER;
}

/* What a generic address adds to one of the space. */
static uint32_t window_of(uint8_t space) {
  return is_shared(space) ? SHARED_WINDOW : space == PTX_LOCAL ? LOCAL_WINDOW : 0;
}

void lower_CVTA(Lower *lower, const PtxInst *inst) {
  PtxWord type = (PtxWord)inst->mods.type;
  bool wide = lower_is_wide(type), back = inst->mods.flags & PTX_FLAG_TO;
  uint32_t window = window_of(inst->mods.space);
  const PtxOperand *src = lower_operand(lower, 1);
  if (inst->mods.space == PTX_PARAM || inst->mods.space == PTX_PARAM_ENTRY) {
    lower_unsupported(lower, "a generic address of a parameter");
    return;
  }
  Result result = lower_result(lower, 0, type);
  lower->vkernel->hands_out_local |= inst->mods.space == PTX_LOCAL && !back;
  if (src->kind == PTX_OPERAND_VAR && !back) {
    lower_move(lower, result.value, lower_address(lower, src, wide, window), wide);
    return;
  }
  Value a = lower_value(lower, 1, type);
  if (!window) {
    lower_move(lower, result.value, a, wide);
    return;
  }
  VInst *sum = lower_op2(lower,
                         back   ? wide ? OP_ISUB64 : OP_ISUB
                         : wide ? OP_IADD64
                                : OP_IADD,
                         result.value, a, wide ? lower_imm64(lower, window) : lower_imm(lower, window));
  if (!back && is_shared(inst->mods.space) && lower->target->capability >= 90)
    sum->inst.mode = SUM_OF_WINDOW;
}

/* -- clusters -- */

/* Where all clusters have one block, a block number that isn't this block's is undefined; of one that is written as a
 * number that is known. */
static void map_to_itself(Lower *lower, const Result *result, Value a, bool wide) {
  const PtxOperand *rank = lower_operand(lower, 2);
  if (rank->kind == PTX_OPERAND_INTEGER && rank->bits)
    lower_unsupported(lower, "an address in another block of a cluster of one block");
  else
    lower_move(lower, result->value, a, wide);
}

/* The block's rank takes the place of the one that the address has: PRMT, as ptxas has it. */
void lower_MAPA(Lower *lower, const PtxInst *inst) {
  PtxWord type = (PtxWord)inst->mods.type;
  const PtxOperand *src = lower_operand(lower, 1);
  bool wide = lower_is_wide(type), generic = inst->mods.space == 0;
  if (!lower_needs(lower, 90, "mapa"))
    return;
  Result result = lower_result(lower, 0, type);
  Value a = src->kind == PTX_OPERAND_VAR ? lower_address(lower, src, wide, 0) : lower_value(lower, 1, type);
  if (!lower->kernel->ranked) {
    map_to_itself(lower, &result, a, wide);
    return;
  }
  enum { RANK_ON_TOP = 0x4210 };
  Value rank = lower_value(lower, 2, PTX_U32), low = wide ? lower_row(result.value, 0) : result.value;
  if (generic) { /* the window of shared memory begins at a multiple of its size */
    uint32_t window = SHARED_WINDOW >> CLUSTER_RANK_SHIFT;
    Value within = lower_to_temp(lower, OP_LOP, TYPE_U32, rank, lower_imm(lower, 0xff));
    rank = lower_to_temp(lower, OP_IADD, TYPE_U32, within, lower_imm(lower, window));
  }
  lower_op3(lower, OP_PRMT, low, a, rank, lower_imm(lower, RANK_ON_TOP));
  if (wide)
    lower_move(lower, lower_row(result.value, 1), lower_row(a, 1), false);
}

void lower_GETCTARANK(Lower *lower, const PtxInst *inst) {
  if (!lower_needs(lower, 90, "getctarank"))
    return;
  Value result = lower_result(lower, 0, PTX_U32).value;
  if (!lower->kernel->ranked) {
    lower_move(lower, result, lower_imm(lower, 0), false);
    return;
  }
  PtxWord type = (PtxWord)inst->mods.type;
  const PtxOperand *src = lower_operand(lower, 1);
  bool wide = lower_is_wide(type), generic = inst->mods.space == 0;
  Value a = src->kind == PTX_OPERAND_VAR ? lower_address(lower, src, wide, 0) : lower_value(lower, 1, type);
  Value low = wide ? lower_row(a, 0) : a;
  if (generic)
    low = lower_to_temp(lower, OP_IADD, TYPE_U32, low, lower_imm(lower, 0u - SHARED_WINDOW));
  lower_op2(lower, OP_SHR, result, low, lower_imm(lower, CLUSTER_RANK_SHIFT))->inst.type = TYPE_U32;
}

void lower_ISSPACEP(Lower *lower, const PtxInst *inst) {
  uint8_t space = inst->mods.space;
  const PtxOperand *src = lower_operand(lower, 1);
  PtxWord type = lower->module->address_size == 64 ? PTX_B64 : PTX_B32;
  int32_t pdst = lower_pred_result(lower, lower_operand(lower, 0));
  if (src->kind == PTX_OPERAND_REG)
    lower_operand_register(lower, src, 0, &type);
  type = lower_is_wide(type) ? PTX_B64 : PTX_B32;
  VInst *vinst;
  if (space == PTX_PARAM || space == PTX_PARAM_ENTRY) { /* none have a generic address */
    vinst = lower_op0(lower, OP_PSETP);
    lower_set_psrc(vinst, 0, (Pred){VPRED_TRUE, true});
  } else {
    vinst = lower_op1(lower, OP_ISSPACEP, VALUE_SINK, lower_value(lower, 1, type));
    vinst->inst.space = is_shared(space)     ? MEM_SHARED
                        : space == PTX_LOCAL ? MEM_LOCAL
                        : space == PTX_CONST ? MEM_CONST
                                             : MEM_GLOBAL;
    vinst->inst.wide = lower_is_wide(type) ? WIDE_A : 0;
  }
  vinst->pdst = pdst;
}
