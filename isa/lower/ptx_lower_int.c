/* Integer arithmetic. 32 bits and less use the instructions of Fermi; lower_value() has extended the operands, and
 * lower_finish() cuts the result. */
#include "isa/lower/ptx_lower_state.h"

static bool is_float(PtxWord type) { return ptx_type_kind(type) == PTX_KIND_FLOAT; }

/* Two halves of 16 bits each, the sign or zeros in front: half 0 is the low one. */
static Value half_of(Lower *lower, Value value, unsigned half, bool is_signed) {
  Value part = lower_temp(lower, 1);
  lower_op2(lower, OP_BFE, part, value, lower_imm(lower, 16u << 8 | half * 16))->inst.type =
      is_signed ? TYPE_S32 : TYPE_U32;
  return part;
}

static void join_halves(Lower *lower, Value dst, Value low, Value high) {
  lower_op3(lower, OP_BFI, dst, high, lower_imm(lower, 16u << 8 | 16), low);
}

static bool is_packed(PtxWord type) { return type == PTX_U16X2 || type == PTX_S16X2; }

static void lower_packed(Lower *lower, Opcode op, bool minimum) {
  bool is_signed = lower->inst->mods.type == PTX_S16X2;
  Result result = lower_result(lower, 0, PTX_B32);
  Value a = lower_value(lower, 1, PTX_B32), b = lower_value(lower, 2, PTX_B32), part[2];
  for (unsigned half = 0; half < 2; half++) {
    Value x = half_of(lower, a, half, is_signed), y = half_of(lower, b, half, is_signed);
    part[half] = lower_temp(lower, 1);
    VInst *vinst = lower_op2(lower, op, part[half], x, y);
    vinst->inst.type = is_signed ? TYPE_S32 : TYPE_U32;
    if (op == OP_IMNMX)
      lower_set_psrc(vinst, 0, (Pred){VPRED_TRUE, !minimum});
  }
  join_halves(lower, result.value, part[0], part[1]);
  lower_finish(lower, &result);
}

/* The type to read operands as whose upper bits don't reach the low ones of the result. */
static PtxWord low_half(PtxWord type) { return type == PTX_S16 ? PTX_U16 : type; }

/* An operation on two integers. */
static VInst *binary(Lower *lower, Opcode op, Opcode wide_op, Result *result) {
  PtxWord type = (PtxWord)lower->inst->mods.type, source = op == OP_IADD || op == OP_ISUB ? low_half(type) : type;
  *result = lower_result(lower, 0, type);
  Value a = lower_value(lower, 1, source), b = lower_value(lower, 2, source);
  VInst *vinst = lower_op2(lower, lower_is_wide(type) ? wide_op : op, result->value, a, b);
  vinst->inst.type = (uint8_t)lower_int_type(type);
  return vinst;
}

static void lower_binary(Lower *lower, Opcode op, Opcode wide_op, uint32_t flags) {
  Result result;
  binary(lower, op, wide_op, &result)->inst.flags |= flags;
  lower_finish(lower, &result);
}

/* .sat .cc */
static uint32_t add_flags(const PtxInst *inst, bool carry_in) {
  return (inst->mods.flags & PTX_FLAG_SAT ? (uint32_t)INST_SAT : 0) |
         (inst->mods.flags & PTX_FLAG_CC ? (uint32_t)INST_CARRY_OUT : 0) | (carry_in ? (uint32_t)INST_CARRY_IN : 0);
}

void lower_ADD(Lower *lower, const PtxInst *inst) {
  if (lower_is_half((PtxWord)inst->mods.type))
    lower_half_binary(lower, OP_HADD2, false);
  else if (is_float((PtxWord)inst->mods.type))
    lower_float_add(lower, false);
  else if (is_packed((PtxWord)inst->mods.type))
    lower_packed(lower, OP_IADD, false);
  else
    lower_binary(lower, OP_IADD, OP_IADD64, add_flags(inst, false));
}

void lower_ADDC(Lower *lower, const PtxInst *inst) { lower_binary(lower, OP_IADD, OP_IADD64, add_flags(inst, true)); }

void lower_SUB(Lower *lower, const PtxInst *inst) {
  if (lower_is_half((PtxWord)inst->mods.type))
    lower_half_binary(lower, OP_HADD2, true);
  else if (is_float((PtxWord)inst->mods.type))
    lower_float_add(lower, true);
  else
    lower_binary(lower, OP_ISUB, OP_ISUB64, add_flags(inst, false));
}

void lower_SUBC(Lower *lower, const PtxInst *inst) { lower_binary(lower, OP_ISUB, OP_ISUB64, add_flags(inst, true)); }

/* -- products -- */

static PtxWord twice(PtxWord type) {
  return type == PTX_U16 ? PTX_U32 : type == PTX_S16 ? PTX_S32 : type == PTX_U32 ? PTX_U64 : PTX_S64;
}

/* a * b in `mode` lo, hi or wide; a product of 16 bits is right in all of its 32. */
static void product(Lower *lower, Value dst, PtxWord type, uint8_t mode, Value a, Value b) {
  bool narrow = ptx_type_bytes(type) == 2;
  Opcode op = lower_is_wide(type) ? OP_IMUL64 : mode == PTX_WIDE && !narrow ? OP_IMULW : OP_IMUL;
  Value whole = narrow && mode == PTX_HI ? lower_temp(lower, 1) : dst;
  VInst *vinst = lower_op2(lower, op, whole, a, b);
  vinst->inst.type = (uint8_t)lower_int_type(type);
  if (mode == PTX_HI && !narrow)
    vinst->inst.flags |= INST_HI;
  if (narrow && mode == PTX_HI)
    lower_op2(lower, OP_SHR, dst, whole, lower_imm(lower, 16))->inst.type = (uint8_t)lower_int_type(type);
}

void lower_MUL(Lower *lower, const PtxInst *inst) {
  PtxWord type = (PtxWord)inst->mods.type;
  if (is_float(type) || lower_is_half(type)) {
    if (lower_is_half(type))
      lower_half_binary(lower, OP_HMUL2, false);
    else
      lower_float_multiply(lower);
    return;
  }
  PtxWord source = inst->mods.mode == PTX_LO ? low_half(type) : type;
  Result result = lower_result(lower, 0, inst->mods.mode == PTX_WIDE ? twice(type) : type);
  Value a = lower_value(lower, 1, source), b = lower_value(lower, 2, source);
  product(lower, result.value, type, inst->mods.mode, a, b);
  lower_finish(lower, &result);
}

static void lower_mad(Lower *lower, bool carry_in) {
  const PtxInst *inst = lower->inst;
  PtxWord type = (PtxWord)inst->mods.type;
  uint8_t mode = inst->mods.mode;
  bool narrow = ptx_type_bytes(type) == 2;
  PtxWord sum = mode == PTX_WIDE ? twice(type) : type, source = mode == PTX_LO ? low_half(type) : type;
  Result result = lower_result(lower, 0, sum);
  Value a = lower_value(lower, 1, source), b = lower_value(lower, 2, source);
  Value c = lower_value(lower, 3, low_half(sum));
  if (narrow && mode == PTX_HI) {
    Value part = lower_temp(lower, 1);
    product(lower, part, type, mode, a, b);
    lower_op2(lower, OP_IADD, result.value, part, c);
  } else {
    Opcode op = lower_is_wide(type) ? OP_IMAD64 : mode == PTX_WIDE && !narrow ? OP_IMADW : OP_IMAD;
    VInst *vinst = lower_op3(lower, op, result.value, a, b, c);
    vinst->inst.type = (uint8_t)lower_int_type(type);
    vinst->inst.flags |= add_flags(inst, carry_in) | (mode == PTX_HI ? (uint32_t)INST_HI : 0);
  }
  lower_finish(lower, &result);
}

void lower_MAD(Lower *lower, const PtxInst *inst) {
  if (is_float((PtxWord)inst->mods.type))
    lower_float_fma(lower);
  else
    lower_mad(lower, false);
}

void lower_MADC(Lower *lower, const PtxInst *inst) { lower_mad(lower, true); }

/* The low 24 bits of both; .hi are bits 16 to 47 of the product. */
static void product24(Lower *lower, Value dst) {
  const PtxInst *inst = lower->inst;
  PtxWord type = (PtxWord)inst->mods.type;
  bool is_signed = lower_is_signed(type);
  Value a = lower_extend(lower, lower_value(lower, 1, type), 24, is_signed);
  Value b = lower_extend(lower, lower_value(lower, 2, type), 24, is_signed);
  if (inst->mods.mode == PTX_LO) {
    lower_op2(lower, OP_IMUL, dst, a, b)->inst.type = (uint8_t)lower_int_type(type);
    return;
  }
  Value whole = lower_to_temp(lower, OP_IMULW, lower_int_type(type), a, b);
  lower_op3(lower, OP_SHF, dst, whole, lower_row(whole, 1), lower_imm(lower, 16))->inst.mode = 1;
}

void lower_MUL24(Lower *lower, const PtxInst *inst) {
  Result result = lower_result(lower, 0, (PtxWord)inst->mods.type);
  product24(lower, result.value);
  lower_finish(lower, &result);
}

void lower_MAD24(Lower *lower, const PtxInst *inst) {
  Result result = lower_result(lower, 0, (PtxWord)inst->mods.type);
  Value part = lower_temp(lower, 1);
  product24(lower, part);
  lower_op2(lower, OP_IADD, result.value, part, lower_value(lower, 3, (PtxWord)inst->mods.type));
  lower_finish(lower, &result);
}

void lower_SAD(Lower *lower, const PtxInst *inst) {
  PtxWord type = (PtxWord)inst->mods.type;
  Result result = lower_result(lower, 0, type);
  Value a = lower_value(lower, 1, type), b = lower_value(lower, 2, type), c = lower_value(lower, 3, type);
  if (!lower_is_wide(type)) {
    lower_op3(lower, OP_SAD, result.value, a, b, c)->inst.type = (uint8_t)lower_int_type(type);
  } else {
    Value bound[2] = {lower_temp(lower, 2), lower_temp(lower, 2)};
    for (unsigned i = 0; i < 2; i++) {
      VInst *vinst = lower_op2(lower, OP_IMNMX64, bound[i], a, b);
      vinst->inst.type = (uint8_t)lower_int_type(type);
      lower_set_psrc(vinst, 0, (Pred){VPRED_TRUE, i == 1});
    }
    Value difference = lower_to_temp(lower, OP_ISUB64, lower_int_type(type), bound[1], bound[0]);
    lower_op2(lower, OP_IADD64, result.value, difference, c);
  }
  lower_finish(lower, &result);
}

void lower_DP4A(Lower *lower, const PtxInst *inst) {
  Result result = lower_result(lower, 0, PTX_B32);
  Value a = lower_value(lower, 1, PTX_B32), b = lower_value(lower, 2, PTX_B32), c = lower_value(lower, 3, PTX_B32);
  VInst *vinst = lower_op3(lower, OP_DP4A, result.value, a, b, c);
  vinst->inst.type = (uint8_t)lower_int_type((PtxWord)inst->mods.type);
  vinst->inst.type2 = (uint8_t)lower_int_type((PtxWord)inst->mods.type2);
  lower_finish(lower, &result);
}

/* -- quotients, signs, bounds -- */

void lower_DIV(Lower *lower, const PtxInst *inst) {
  if (is_float((PtxWord)inst->mods.type))
    lower_float_divide(lower);
  else
    lower_binary(lower, OP_IDIV, OP_IDIV64, 0);
}

void lower_REM(Lower *lower, const PtxInst *inst) { lower_binary(lower, OP_IREM, OP_IREM64, 0); }

void lower_ABS(Lower *lower, const PtxInst *inst) {
  PtxWord type = (PtxWord)inst->mods.type;
  if (is_float(type) || lower_is_half(type)) {
    if (lower_is_half(type))
      lower_half_sign(lower, false);
    else
      lower_float_sign(lower, LOP_AND);
    return;
  }
  Result result = lower_result(lower, 0, type);
  lower_op1(lower, lower_is_wide(type) ? OP_IABS64 : OP_IABS, result.value, lower_value(lower, 1, type));
  lower_finish(lower, &result);
}

void lower_NEG(Lower *lower, const PtxInst *inst) {
  PtxWord type = (PtxWord)inst->mods.type;
  if (is_float(type) || lower_is_half(type)) {
    if (lower_is_half(type))
      lower_half_sign(lower, true);
    else
      lower_float_sign(lower, LOP_XOR);
    return;
  }
  bool wide = lower_is_wide(type);
  Result result = lower_result(lower, 0, type);
  Value a = lower_value(lower, 1, type), zero = wide ? lower_imm64(lower, 0) : lower_imm(lower, 0);
  lower_op2(lower, wide ? OP_ISUB64 : OP_ISUB, result.value, zero, a);
  lower_finish(lower, &result);
}

static void lower_minmax(Lower *lower, bool minimum) {
  PtxWord type = (PtxWord)lower->inst->mods.type;
  Result result;
  if (lower_is_half(type)) {
    lower_half_minmax(lower, minimum);
  } else if (is_float(type)) {
    lower_float_minmax(lower, minimum);
  } else if (is_packed(type)) {
    lower_packed(lower, OP_IMNMX, minimum);
  } else {
    lower_set_psrc(binary(lower, OP_IMNMX, OP_IMNMX64, &result), 0, (Pred){VPRED_TRUE, !minimum});
    lower_finish(lower, &result);
  }
}

void lower_MIN(Lower *lower, const PtxInst *inst) { lower_minmax(lower, true); }

void lower_MAX(Lower *lower, const PtxInst *inst) { lower_minmax(lower, false); }
