/* Arithmetic of f32 and f64. */
#include "isa/lower/ptx_lower_state.h"

#define F32_SIGN UINT32_C(0x80000000)
#define F64_SIGN (UINT64_C(1) << 63)
#define F64_ONE UINT64_C(0x3ff0000000000000)

FloatRound lower_round(const PtxInst *inst) {
  switch (inst->mods.round) {
  case PTX_RZ: return FROUND_ZERO;
  case PTX_RM: return FROUND_DOWN;
  case PTX_RP: return FROUND_UP;
  default: return FROUND_NEAREST;
  }
}

/* .ftz .sat and the rounding */
static VInst *with_mods(const Lower *lower, VInst *vinst) {
  const PtxInst *inst = lower->inst;
  vinst->inst.flags |= (inst->mods.flags & PTX_FLAG_FTZ ? (uint32_t)INST_FTZ : 0) |
                       (inst->mods.flags & PTX_FLAG_SAT ? (uint32_t)INST_SAT : 0);
  vinst->inst.round = (uint8_t)lower_round(inst);
  return vinst;
}

static PtxWord own_type(const Lower *lower) { return (PtxWord)lower->inst->mods.type; }

static VInst *unary(Lower *lower, Opcode op, Opcode wide_op) {
  PtxWord type = own_type(lower);
  Result result = lower_result(lower, 0, type);
  Value a = lower_value(lower, 1, type);
  return with_mods(lower, lower_op1(lower, lower_is_wide(type) ? wide_op : op, result.value, a));
}

static VInst *binary(Lower *lower, Opcode op, Opcode wide_op) {
  PtxWord type = own_type(lower);
  Result result = lower_result(lower, 0, type);
  Value a = lower_value(lower, 1, type), b = lower_value(lower, 2, type);
  return with_mods(lower, lower_op2(lower, lower_is_wide(type) ? wide_op : op, result.value, a, b));
}

static void ternary(Lower *lower, Opcode op, Opcode wide_op) {
  PtxWord type = own_type(lower);
  Result result = lower_result(lower, 0, type);
  Value a = lower_value(lower, 1, type), b = lower_value(lower, 2, type), c = lower_value(lower, 3, type);
  with_mods(lower, lower_op3(lower, lower_is_wide(type) ? wide_op : op, result.value, a, b, c));
}

void lower_float_add(Lower *lower, bool subtract) {
  binary(lower, OP_FADD, OP_DADD)->inst.flags |= subtract ? (uint32_t)INST_NEG_B : 0;
}

void lower_float_multiply(Lower *lower) { binary(lower, OP_FMUL, OP_DMUL); }

void lower_float_fma(Lower *lower) { ternary(lower, OP_FFMA, OP_DFMA); }

void lower_FMA(Lower *lower, const PtxInst *inst) {
  if (lower_is_half(own_type(lower)))
    lower_half_fma(lower);
  else
    lower_float_fma(lower);
}

void lower_float_divide(Lower *lower) { binary(lower, OP_FDIV, OP_DDIV); }

/* f32: by adding -0, as hardware does, which makes one NaN of all (seen on an H100). f64: the sign bit by logic. */
void lower_float_sign(Lower *lower, LogicOp lop) {
  PtxWord type = own_type(lower);
  bool negate = lop == LOP_XOR;
  Result result = lower_result(lower, 0, type);
  Value a = lower_value(lower, 1, type);
  if (lower_is_wide(type)) {
    Value mask = lower_imm64(lower, negate ? F64_SIGN : ~F64_SIGN);
    lower_op2(lower, OP_LOP64, result.value, a, mask)->inst.lop = (uint8_t)lop;
  } else {
    VInst *vinst = lower_op2(lower, OP_FADD, result.value, a, lower_imm(lower, F32_SIGN));
    with_mods(lower, vinst)->inst.flags |= negate ? (uint32_t)INST_NEG_A : (uint32_t)INST_ABS_A;
  }
}

void lower_COPYSIGN(Lower *lower, const PtxInst *inst) {
  PtxWord type = own_type(lower);
  bool wide = lower_is_wide(type);
  Result result = lower_result(lower, 0, type);
  Value a = lower_value(lower, 1, type), b = lower_value(lower, 2, type);
  if (result.value.index == VREG_SINK)
    return;
  /* the high word first: it reads only high words, so that the result may be either source */
  unsigned high = wide ? 1 : 0;
  lower_op3(lower, OP_BFI, lower_row(result.value, high), lower_row(b, high), lower_imm(lower, 31u << 8),
            lower_row(a, high));
  if (wide)
    lower_move(lower, result.value, b, false);
}

/* -- bounds -- */

/* .xorsign.abs: the bound of the magnitudes, with the product's sign. */
static void xorsign_minmax(Lower *lower, bool minimum, Value dst, Value a, Value b) {
  Value bound = lower_temp(lower, 1), sign = lower_temp(lower, 1);
  VInst *vinst = with_mods(lower, lower_op2(lower, OP_FMNMX, bound, a, b));
  vinst->inst.flags |= (uint32_t)INST_ABS_A | INST_ABS_B;
  vinst->inst.flags |= lower->inst->mods.flags & PTX_FLAG_NAN ? (uint32_t)INST_KEEP_NAN : 0;
  lower_set_psrc(vinst, 0, (Pred){VPRED_TRUE, !minimum});
  lower_logic(lower, LOP_XOR, sign, a, b);
  lower_op3(lower, OP_BFI, dst, bound, lower_imm(lower, 31u << 8), sign);
}

void lower_float_minmax(Lower *lower, bool minimum) {
  PtxWord type = own_type(lower);
  Result result = lower_result(lower, 0, type);
  Value a = lower_value(lower, 1, type), b = lower_value(lower, 2, type);
  if (lower->inst->mods.flags & (PTX_FLAG_XORSIGN | PTX_FLAG_ABS)) {
    xorsign_minmax(lower, minimum, result.value, a, b);
    return;
  }
  VInst *vinst = lower_op2(lower, lower_is_wide(type) ? OP_DMNMX : OP_FMNMX, result.value, a, b);
  vinst->inst.flags |= lower->inst->mods.flags & PTX_FLAG_NAN ? (uint32_t)INST_KEEP_NAN : 0;
  lower_set_psrc(with_mods(lower, vinst), 0, (Pred){VPRED_TRUE, !minimum});
}

void lower_saturate64(Lower *lower, Value dst, Value value) {
  Value bounded = lower_temp(lower, 2);
  VInst *vinst = lower_op2(lower, OP_DMNMX, bounded, value, lower_imm64(lower, 0));
  lower_set_psrc(vinst, 0, (Pred){VPRED_TRUE, true});
  lower_op2(lower, OP_DMNMX, dst, bounded, lower_imm64(lower, F64_ONE));
}

/* -- functions of one number -- */

static void mufu(Lower *lower, MufuFunction function) {
  unary(lower, OP_MUFU, OP_DMUFU)->inst.mode = (uint8_t)function;
}

void lower_RCP(Lower *lower, const PtxInst *inst) {
  PtxWord type = own_type(lower);
  if (lower_is_wide(type) || inst->mods.round == PTX_APPROX) {
    mufu(lower, MUFU_RCP);
    return;
  }
  Result result = lower_result(lower, 0, type);
  Value a = lower_value(lower, 1, type), one = lower_imm(lower, 0x3f800000);
  with_mods(lower, lower_op2(lower, OP_FDIV, result.value, one, a));
}

void lower_SQRT(Lower *lower, const PtxInst *inst) { mufu(lower, MUFU_SQRT); }

void lower_RSQRT(Lower *lower, const PtxInst *inst) { mufu(lower, MUFU_RSQ); }

void lower_EX2(Lower *lower, const PtxInst *inst) { mufu(lower, MUFU_EX2); }

void lower_LG2(Lower *lower, const PtxInst *inst) { mufu(lower, MUFU_LG2); }

void lower_SIN(Lower *lower, const PtxInst *inst) { mufu(lower, MUFU_SIN); }

void lower_COS(Lower *lower, const PtxInst *inst) { mufu(lower, MUFU_COS); }

void lower_TANH(Lower *lower, const PtxInst *inst) {
  if (lower_needs(lower, 75, "tanh"))
    mufu(lower, MUFU_TANH);
}

void lower_TESTP(Lower *lower, const PtxInst *inst) {
  static const uint8_t modes[PTX_WORD_COUNT] = {
      [PTX_FINITE] = TESTP_FINITE,         [PTX_INFINITE] = TESTP_INFINITE, [PTX_NUMBER] = TESTP_NUMBER,
      [PTX_NOTANUMBER] = TESTP_NOTANUMBER, [PTX_NORMAL] = TESTP_NORMAL,     [PTX_SUBNORMAL] = TESTP_SUBNORMAL};
  PtxWord type = own_type(lower);
  int32_t pdst = lower_pred_result(lower, lower_operand(lower, 0));
  VInst *vinst = lower_op1(lower, OP_TESTP, VALUE_SINK, lower_value(lower, 1, type));
  vinst->inst.mode = modes[inst->mods.mode];
  vinst->inst.type = (uint8_t)lower_data_type(type);
  vinst->inst.wide = lower_is_wide(type) ? WIDE_A : 0;
  vinst->pdst = pdst;
}
