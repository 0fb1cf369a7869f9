/* Logic, shifts and bit fields. */
#include "isa/lower/ptx_lower_state.h"

/* -- logic -- */

static void logic(Lower *lower, LogicOp lop) {
  PtxWord type = (PtxWord)lower->inst->mods.type;
  if (type == PTX_PRED) {
    Pred a = lower_pred(lower, 1), b = lower_pred(lower, 2);
    VInst *vinst = lower_op0(lower, OP_PSETP);
    vinst->inst.lop = (uint8_t)lop;
    lower_set_psrc(vinst, 0, a);
    lower_set_psrc(vinst, 1, b);
    int32_t dst = lower_pred_result(lower, lower_operand(lower, 0));
    g_array_index(lower->vkernel->insts, VInst, lower->vkernel->insts->len - 1).pdst = dst;
    return;
  }
  Value dst = lower_result(lower, 0, type).reg; /* 16 bits stay zero-extended */
  Value a = lower_value(lower, 1, type), b = lower_value(lower, 2, type);
  lower_op2(lower, lower_is_wide(type) ? OP_LOP64 : OP_LOP, dst, a, b)->inst.lop = (uint8_t)lop;
}

void lower_AND(Lower *lower, const PtxInst *inst) { logic(lower, LOP_AND); }

void lower_OR(Lower *lower, const PtxInst *inst) { logic(lower, LOP_OR); }

void lower_XOR(Lower *lower, const PtxInst *inst) { logic(lower, LOP_XOR); }

void lower_NOT(Lower *lower, const PtxInst *inst) {
  PtxWord type = (PtxWord)inst->mods.type;
  if (type == PTX_PRED) {
    Pred a = lower_pred(lower, 1);
    int32_t dst = lower_pred_result(lower, lower_operand(lower, 0));
    VInst *vinst = lower_op0(lower, OP_PSETP);
    vinst->pdst = dst;
    lower_set_psrc(vinst, 0, (Pred){a.index, !a.negated});
    return;
  }
  Result result = lower_result(lower, 0, type);
  Value a = lower_value(lower, 1, type);
  VInst *vinst = lower_op2(lower, lower_is_wide(type) ? OP_LOP64 : OP_LOP, result.value, a, a);
  vinst->inst.lop = LOP_PASS_B;
  vinst->inst.flags |= INST_INV_B;
  lower_finish(lower, &result);
}

void lower_CNOT(Lower *lower, const PtxInst *inst) {
  PtxWord type = (PtxWord)inst->mods.type;
  bool wide = lower_is_wide(type);
  Result result = lower_result(lower, 0, type);
  Value a = lower_value(lower, 1, type), zero = wide ? lower_imm64(lower, 0) : lower_imm(lower, 0);
  Pred is_zero = lower_compare(lower, CMP_EQ, wide ? TYPE_U64 : TYPE_U32, a, zero);
  lower_select(lower, result.value, wide ? lower_imm64(lower, 1) : lower_imm(lower, 1), zero, is_zero, wide);
  lower_finish(lower, &result);
}

void lower_LOP3(Lower *lower, const PtxInst *inst) {
  const PtxOperand *first = lower_operand(lower, 0);
  bool pair = first->kind == PTX_OPERAND_PAIR;
  Result result = lower_result_of(lower, pair ? lower_part(lower, first, 0) : first, PTX_B32);
  int32_t pdst = pair ? lower_pred_result(lower, lower_part(lower, first, 1)) : VPRED_SINK;
  Value a = lower_value(lower, 1, PTX_B32), b = lower_value(lower, 2, PTX_B32), c = lower_value(lower, 3, PTX_B32);
  VInst *vinst = lower_op3(lower, OP_LOP3, result.value, a, b, c);
  vinst->inst.mode = (uint8_t)lower_operand(lower, 4)->bits;
  vinst->pdst = pdst;
  if (inst->mods.boolop) {
    vinst->inst.lop = inst->mods.boolop == PTX_OR ? LOP_OR : LOP_AND;
    lower_set_psrc(vinst, 0, lower_pred(lower, 5));
  }
  lower_finish(lower, &result);
}

/* -- shifts -- */

static void shift(Lower *lower, Opcode op, Opcode wide_op) {
  PtxWord type = (PtxWord)lower->inst->mods.type;
  Result result = lower_result(lower, 0, type);
  Value a = lower_value(lower, 1, type), b = lower_value(lower, 2, PTX_U32);
  lower_op2(lower, lower_is_wide(type) ? wide_op : op, result.value, a, b)->inst.type = (uint8_t)lower_int_type(type);
  lower_finish(lower, &result);
}

void lower_SHL(Lower *lower, const PtxInst *inst) { shift(lower, OP_SHL, OP_SHL64); }

void lower_SHR(Lower *lower, const PtxInst *inst) { shift(lower, OP_SHR, OP_SHR64); }

void lower_SHF(Lower *lower, const PtxInst *inst) {
  Result result = lower_result(lower, 0, PTX_B32);
  Value a = lower_value(lower, 1, PTX_B32), b = lower_value(lower, 2, PTX_B32), c = lower_value(lower, 3, PTX_B32);
  VInst *vinst = lower_op3(lower, OP_SHF, result.value, a, b, c);
  vinst->inst.mode = inst->mods.mode == PTX_R;
  vinst->inst.flags |= inst->mods.mode2 == PTX_WRAP ? (uint32_t)INST_WRAP : 0;
  lower_finish(lower, &result);
}

/* -- bit fields -- */

/* Position and length of a field in one operand: bits 0 to 7 and 8 to 15. */
static Value pack_field(Lower *lower, const PtxOperand *position, const PtxOperand *length) {
  if (position->kind == PTX_OPERAND_INTEGER && length->kind == PTX_OPERAND_INTEGER)
    return lower_imm(lower, (uint32_t)(position->bits & 0xff) | (uint32_t)(length->bits & 0xff) << 8);
  Value low = lower_value_of(lower, position, PTX_U32), high = lower_value_of(lower, length, PTX_U32);
  Value packed = lower_temp(lower, 1);
  lower_op3(lower, OP_BFI, packed, high, lower_imm(lower, 8u << 8 | 8), low);
  return packed;
}

void lower_BFE(Lower *lower, const PtxInst *inst) {
  PtxWord type = (PtxWord)inst->mods.type;
  Result result = lower_result(lower, 0, type);
  Value a = lower_value(lower, 1, type);
  Value field = pack_field(lower, lower_operand(lower, 2), lower_operand(lower, 3));
  lower_op2(lower, lower_is_wide(type) ? OP_BFE64 : OP_BFE, result.value, a, field)->inst.type =
      (uint8_t)lower_int_type(type);
  lower_finish(lower, &result);
}

void lower_BFI(Lower *lower, const PtxInst *inst) {
  PtxWord type = (PtxWord)inst->mods.type;
  Result result = lower_result(lower, 0, type);
  Value a = lower_value(lower, 1, type), b = lower_value(lower, 2, type);
  Value field = pack_field(lower, lower_operand(lower, 3), lower_operand(lower, 4));
  lower_op3(lower, lower_is_wide(type) ? OP_BFI64 : OP_BFI, result.value, a, field, b);
  lower_finish(lower, &result);
}

void lower_BREV(Lower *lower, const PtxInst *inst) {
  PtxWord type = (PtxWord)inst->mods.type;
  Result result = lower_result(lower, 0, type);
  lower_op1(lower, lower_is_wide(type) ? OP_BREV64 : OP_BREV, result.value, lower_value(lower, 1, type));
  lower_finish(lower, &result);
}

void lower_POPC(Lower *lower, const PtxInst *inst) {
  PtxWord type = (PtxWord)inst->mods.type;
  Result result = lower_result(lower, 0, PTX_B32);
  Value a = lower_value(lower, 1, type);
  if (lower_is_wide(type))
    lower_op1(lower, OP_POPC64, result.value, a);
  else
    lower_op2(lower, OP_POPC, result.value, a, lower_imm(lower, UINT32_MAX));
  lower_finish(lower, &result);
}

/* FLO.SH counts the zeros, but gives all ones for 0. */
void lower_CLZ(Lower *lower, const PtxInst *inst) {
  PtxWord type = (PtxWord)inst->mods.type;
  bool wide = lower_is_wide(type);
  Result result = lower_result(lower, 0, PTX_B32);
  Value a = lower_value(lower, 1, type), count = lower_temp(lower, 1);
  VInst *vinst = lower_op1(lower, wide ? OP_FLO64 : OP_FLO, count, a);
  vinst->inst.type = (uint8_t)lower_int_type(type);
  vinst->inst.flags |= INST_SH;
  lower_op2(lower, OP_IMNMX, result.value, count, lower_imm(lower, wide ? 64 : 32))->inst.type = TYPE_U32;
  lower_finish(lower, &result);
}

void lower_BFIND(Lower *lower, const PtxInst *inst) {
  PtxWord type = (PtxWord)inst->mods.type;
  Result result = lower_result(lower, 0, PTX_B32);
  Value a = lower_value(lower, 1, type);
  VInst *vinst = lower_op1(lower, lower_is_wide(type) ? OP_FLO64 : OP_FLO, result.value, a);
  vinst->inst.type = (uint8_t)lower_int_type(type);
  vinst->inst.flags |= inst->mods.flags & PTX_FLAG_SHIFTAMT ? (uint32_t)INST_SH : 0;
  lower_finish(lower, &result);
}

void lower_PRMT(Lower *lower, const PtxInst *inst) {
  static const uint8_t modes[PTX_WORD_COUNT] = {[PTX_F4E] = PRMT_F4E, [PTX_B4E] = PRMT_B4E, [PTX_RC8] = PRMT_RC8,
                                                [PTX_ECL] = PRMT_ECL, [PTX_ECR] = PRMT_ECR, [PTX_RC16] = PRMT_RC16};
  Result result = lower_result(lower, 0, PTX_B32);
  Value a = lower_value(lower, 1, PTX_B32), b = lower_value(lower, 2, PTX_B32), c = lower_value(lower, 3, PTX_B32);
  lower_op3(lower, OP_PRMT, result.value, a, b, c)->inst.mode = modes[inst->mods.mode];
  lower_finish(lower, &result);
}

void lower_SZEXT(Lower *lower, const PtxInst *inst) {
  PtxWord type = (PtxWord)inst->mods.type;
  Result result = lower_result(lower, 0, type);
  Value a = lower_value(lower, 1, type), bits = lower_value(lower, 2, PTX_U32), length = lower_temp(lower, 1);
  if (inst->mods.mode2 == PTX_WRAP)
    lower_logic(lower, LOP_AND, length, bits, lower_imm(lower, 31));
  else
    lower_op2(lower, OP_IMNMX, length, bits, lower_imm(lower, 32))->inst.type = TYPE_U32;
  Value field = lower_to_temp(lower, OP_SHL, TYPE_U32, length, lower_imm(lower, 8));
  lower_op2(lower, OP_BFE, result.value, a, field)->inst.type = (uint8_t)lower_int_type(type);
  lower_finish(lower, &result);
}

void lower_BMSK(Lower *lower, const PtxInst *inst) {
  uint32_t wrap = inst->mods.mode2 == PTX_WRAP ? (uint32_t)INST_WRAP : 0;
  Result result = lower_result(lower, 0, PTX_B32);
  Value a = lower_value(lower, 1, PTX_B32), b = lower_value(lower, 2, PTX_B32), top = lower_temp(lower, 1);
  lower_op2(lower, OP_SHL, top, lower_imm(lower, 1), b)->inst.flags |= wrap;
  Value ones = lower_to_temp(lower, OP_IADD, TYPE_U32, top, lower_imm(lower, UINT32_MAX));
  lower_op2(lower, OP_SHL, result.value, ones, a)->inst.flags |= wrap;
  lower_finish(lower, &result);
}

/* -- fns: the n-th bit set from a base on, upwards or (n < 0) downwards; n = 0: the base itself -- */

static Value pick(Lower *lower, Value a, Value b, Pred pred) {
  Value value = lower_temp(lower, 1);
  lower_select(lower, value, a, b, pred, false);
  return value;
}

/* The place of set bit number `left` (from 0) of a word, by halves; *found: there is one. */
static Value nth_bit(Lower *lower, Value word, Value left, Pred *found) {
  Value zero = lower_imm(lower, 0), place = zero;
  for (uint32_t width = 16; width; width /= 2) {
    Value below = lower_to_temp(lower, OP_POPC, TYPE_U32, word, lower_imm(lower, (1u << width) - 1));
    Pred above = lower_compare(lower, CMP_GE, TYPE_U32, left, below);
    Value step = pick(lower, lower_imm(lower, width), zero, above);
    left = lower_to_temp(lower, OP_ISUB, TYPE_U32, left, pick(lower, below, zero, above));
    word = lower_to_temp(lower, OP_SHR, TYPE_U32, word, step);
    place = lower_to_temp(lower, OP_IADD, TYPE_U32, place, step);
  }
  Value bit = lower_temp(lower, 1), rest = lower_temp(lower, 1);
  lower_logic(lower, LOP_AND, bit, word, lower_imm(lower, 1));
  lower_op2(lower, OP_ISUB, rest, bit, left); /* 1 only if the bit is set and none is left */
  *found = lower_compare(lower, CMP_EQ, TYPE_U32, rest, lower_imm(lower, 1));
  return place;
}

void lower_FNS(Lower *lower, const PtxInst *inst) {
  Result result = lower_result(lower, 0, PTX_B32);
  Value mask = lower_value(lower, 1, PTX_B32), base = lower_value(lower, 2, PTX_B32);
  Value n = lower_value(lower, 3, PTX_S32), zero = lower_imm(lower, 0), one = lower_imm(lower, 1);
  Pred down = lower_compare(lower, CMP_LT, TYPE_S32, n, zero), only = lower_compare(lower, CMP_EQ, TYPE_S32, n, zero);
  Value backwards = lower_temp(lower, 1), count = lower_temp(lower, 1), first = lower_temp(lower, 1);
  lower_op1(lower, OP_BREV, backwards, mask);
  Value from = lower_to_temp(lower, OP_ISUB, TYPE_U32, lower_imm(lower, 31), base);
  Value word =
      lower_to_temp(lower, OP_SHR, TYPE_U32, pick(lower, backwards, mask, down), pick(lower, from, base, down));
  lower_logic(lower, LOP_AND, first, word, one);
  word = pick(lower, first, word, only);
  lower_op1(lower, OP_IABS, count, n);
  count = pick(lower, one, count, only);
  Pred found;
  Value place = nth_bit(lower, word, lower_to_temp(lower, OP_ISUB, TYPE_U32, count, one), &found);
  Value up = lower_to_temp(lower, OP_IADD, TYPE_U32, base, place);
  Value low = lower_to_temp(lower, OP_ISUB, TYPE_U32, base, place);
  lower_select(lower, result.value, pick(lower, low, up, down), lower_imm(lower, UINT32_MAX), found, false);
  lower_finish(lower, &result);
}
