/* f16 and bf16, one or a pair. One lies in the low half of its register, and the high half is 0, which sums, products
 * and bounds of two pairs keep: what stands there is 0, 0 + 0 or 0 * 0 + 0. */
#include "isa/lower/ptx_lower_state.h"

enum { F16_ONE = 0x3c00, BF16_ONE = 0x3f80, SIGN = 0x8000 };

static bool is_pair(PtxWord type) { return type == PTX_F16X2 || type == PTX_BF16X2; }
static bool is_brain(PtxWord type) { return type == PTX_BF16 || type == PTX_BF16X2; }
static PtxWord own_type(const Lower *lower) { return (PtxWord)lower->inst->mods.type; }

/* The register of the first operand, which a result of 16 bits fills, zeros above it. */
static Value half_result(Lower *lower, PtxWord type) { return lower_result(lower, 0, type).reg; }

static bool is_new_enough(Lower *lower, PtxWord type, unsigned half, unsigned brain) {
  return lower_needs(lower, is_brain(type) ? brain : half,
                     is_brain(type) ? "this operation on bf16" : "arithmetic of f16");
}

static VInst *with_mods(const Lower *lower, VInst *vinst, PtxWord type) {
  uint32_t flags = lower->inst->mods.flags;
  vinst->inst.type = is_brain(type) ? TYPE_BF16 : TYPE_F16;
  vinst->inst.flags |=
      (flags & PTX_FLAG_FTZ ? (uint32_t)INST_FTZ : 0) | (flags & PTX_FLAG_SAT ? (uint32_t)INST_SAT : 0);
  return vinst;
}

/* -- arithmetic -- */

void lower_half_binary(Lower *lower, Opcode op, bool subtract) {
  PtxWord type = own_type(lower);
  if (!is_new_enough(lower, type, 53, 90))
    return;
  Value dst = half_result(lower, type), a = lower_value(lower, 1, type), b = lower_value(lower, 2, type);
  with_mods(lower, lower_op2(lower, op, dst, a, b), type)->inst.flags |= subtract ? (uint32_t)INST_NEG_B : 0;
}

void lower_half_fma(Lower *lower) {
  PtxWord type = own_type(lower);
  bool relu = lower->inst->mods.flags & PTX_FLAG_RELU;
  if (!is_new_enough(lower, type, relu ? 80 : 53, 80))
    return;
  Value dst = half_result(lower, type), a = lower_value(lower, 1, type), b = lower_value(lower, 2, type);
  with_mods(lower, lower_op3(lower, OP_HFMA2, dst, a, b, lower_value(lower, 3, type)), type)->inst.mode = relu;
}

/* By adding -0, as hardware does, which makes one NaN of all; 0 in the high half of one. */
void lower_half_sign(Lower *lower, bool negate) {
  PtxWord type = own_type(lower);
  if (!is_new_enough(lower, type, 53, 80))
    return;
  Value dst = half_result(lower, type), a = lower_value(lower, 1, type);
  Value zero = lower_imm(lower, is_pair(type) ? SIGN | (uint32_t)SIGN << 16 : SIGN);
  with_mods(lower, lower_op2(lower, OP_HADD2, dst, a, zero), type)->inst.flags |=
      negate ? (uint32_t)INST_NEG_A : (uint32_t)INST_ABS_A;
}

void lower_half_minmax(Lower *lower, bool minimum) {
  PtxWord type = own_type(lower);
  if (!is_new_enough(lower, type, 80, 80))
    return;
  Value dst = half_result(lower, type), a = lower_value(lower, 1, type), b = lower_value(lower, 2, type);
  VInst *vinst = with_mods(lower, lower_op2(lower, OP_HMNMX2, dst, a, b), type);
  vinst->inst.flags |= lower->inst->mods.flags & PTX_FLAG_NAN ? (uint32_t)INST_KEEP_NAN : 0;
  lower_set_psrc(vinst, 0, (Pred){VPRED_TRUE, !minimum});
}

/* -- comparisons -- */

static VInst *compare(Lower *lower, Opcode op, Value dst, PtxWord type) {
  return with_mods(lower, lower_comparison(lower, op, dst, type), type);
}

void lower_half_setp(Lower *lower, int32_t pdst, int32_t pdst2) {
  PtxWord type = own_type(lower);
  if (!is_new_enough(lower, type, 53, 90))
    return;
  VInst *vinst = compare(lower, OP_HSETP2, VALUE_SINK, type);
  vinst->pdst = pdst;
  vinst->pdst2 = pdst2;
}

static uint32_t yes_of(PtxWord type) {
  return type == PTX_F16             ? F16_ONE
         : type == PTX_BF16          ? BF16_ONE
         : ptx_type_bytes(type) == 2 ? UINT16_MAX
                                     : UINT32_MAX;
}

/* Of a pair each half is 1.0, or all ones. */
void lower_half_set(Lower *lower) {
  PtxWord to = own_type(lower), type = (PtxWord)lower->inst->mods.type2;
  if (!is_new_enough(lower, type, 53, 90))
    return;
  Value dst = half_result(lower, to);
  if (is_pair(type)) {
    compare(lower, OP_HSET2, dst, type)->inst.flags |= is_pair(to) ? (uint32_t)INST_BF : 0;
    return;
  }
  Pred holds = lower_temp_pred(lower);
  compare(lower, OP_HSETP2, VALUE_SINK, type)->pdst = holds.index;
  lower_select(lower, dst, lower_imm(lower, yes_of(to)), lower_imm(lower, 0), holds, false);
}

/* -- conversions -- */

static VInst *narrow(Lower *lower, Value dst, Value src, PtxWord to) {
  VInst *vinst = lower_op1(lower, OP_CVT, dst, src);
  vinst->inst.type = is_brain(to) ? TYPE_BF16 : TYPE_F16;
  vinst->inst.type2 = TYPE_F32;
  vinst->inst.round = (uint8_t)lower_round(lower->inst);
  return vinst;
}

/* cvt.rn.f16x2.f32 d, a, b: a is the high half. */
void lower_half_pack(Lower *lower) {
  PtxWord to = own_type(lower);
  if (!lower_needs(lower, 80, "this conversion"))
    return;
  Value dst = lower_result(lower, 0, to).value, high = lower_temp(lower, 1), low = lower_temp(lower, 1);
  Value a = lower_value(lower, 1, PTX_F32), b = lower_value(lower, 2, PTX_F32);
  narrow(lower, high, a, to);
  narrow(lower, low, b, to);
  lower_op3(lower, OP_BFI, dst, high, lower_imm(lower, 16 << 8 | 16), low);
}
