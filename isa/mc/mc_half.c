/* Lowering of pairs of halves (f16) and of bfloat16s. */
#include <math.h>
#include <string.h>

#include "isa/mc/mc_build.h"

static DataType type_of(const McBuild *build) { return mc_has(build, "BF16_V2") ? TYPE_BF16 : TYPE_F16; }

/* The f16 nearest to a number; those of listings are exact. */
static uint32_t half_bits(double value) {
  uint32_t sign = signbit(value) ? 0x8000 : 0;
  int exponent;
  if (isnan(value))
    return 0x7fff;
  double part = frexp(fabs(value), &exponent); /* in [0.5, 1) */
  if (value == 0)
    return sign;
  if (isinf(value) || exponent > 16)
    return sign | 0x7c00;
  if (exponent < -13)
    return sign | (uint32_t)ldexp(part, exponent + 24);
  return sign | (uint32_t)(exponent + 14) << 10 | ((uint32_t)ldexp(part, 11) & 0x3ff);
}

static uint32_t number_bits(DataType type, const McOperand *operand) {
  double value = operand->kind == MC_REAL ? operand->real : (double)(int64_t)operand->value;
  float narrow = (float)value;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  return type == TYPE_F16 ? half_bits(value) : isnan(value) ? 0x7fff : bits >> 16;
}

static bool is_number(const McOperand *operand) { return operand->kind == MC_REAL || operand->kind == MC_INTEGER; }

/* Two immediates, the high one first. */
static uint32_t pair_bits(McBuild *build, guint index) {
  DataType type = type_of(build);
  return number_bits(type, mc_at(build, index)) << 16 | number_bits(type, mc_at(build, index + 1));
}

static int16_t selected(McBuild *build, int16_t row, uint32_t selector) {
  Inst inst = mc_blank(build, OP_PRMT);
  inst.a = row;
  inst.b = mc_constant(build, 0);
  inst.c = mc_constant(build, selector);
  inst.dst = mc_scratch(build, 1);
  mc_emit(build, &inst);
  return inst.dst;
}

/* H0_NH1: the low half as the high one, and the high one, negated, as the low one. */
static int16_t turned(McBuild *build, int16_t row) {
  Inst inst = mc_blank(build, OP_LOP);
  inst.lop = LOP_XOR;
  inst.a = selected(build, row, 0x1032);
  inst.b = mc_constant(build, 0x8000);
  inst.dst = mc_scratch(build, 1);
  mc_emit(build, &inst);
  return inst.dst;
}

/* Operand `*index` as a pair of halves, and *index goes behind it: two immediates, or a register of which both halves
 * are taken, or one twice. Its signs are the instruction's. */
static int16_t half_pair(McBuild *build, guint *index, Inst *inst, uint32_t minus, uint32_t absolute) {
  McOperand operand = *mc_at(build, *index);
  if (is_number(&operand)) {
    *index += 2;
    return mc_constant(build, pair_bits(build, *index - 2));
  }
  ++*index;
  inst->flags |= (operand.minus ? minus : 0) | (operand.absolute ? absolute : 0);
  uint8_t part = operand.part;
  operand.part = MC_ALL;
  int16_t row = mc_value(build, &operand);
  if (part == MC_H0_NH1)
    return turned(build, row);
  if (part != MC_H0_H0 && part != MC_H1_H1)
    return row;
  return selected(build, row, part == MC_H0_H0 ? 0x1010 : 0x3232);
}

static void set_kind(const McBuild *build, Inst *inst) {
  inst->type = (uint8_t)type_of(build);
  inst->flags |= mc_has(build, "FTZ") ? INST_FTZ : 0;
}

/* The third operand: there is no flag for its bars. */
static int16_t added_pair(McBuild *build, guint *index, Inst *inst) {
  bool absolute = mc_at(build, *index)->absolute;
  int16_t row = half_pair(build, index, inst, INST_NEG_C, 0);
  if (!absolute)
    return row;
  Inst bars = mc_blank(build, OP_LOP);
  bars.lop = LOP_AND;
  bars.a = row;
  bars.b = mc_constant(build, 0x7fff7fff);
  bars.dst = mc_scratch(build, 1);
  mc_emit(build, &bars);
  return bars.dst;
}

static bool arithmetic(McBuild *build, Opcode op, unsigned operands) {
  guint index = 1;
  if (!mc_only(build, "MMA", "SAT", "RELU", "FTZ", "BF16_V2", NULL))
    return mc_refuse(build);
  Inst inst = mc_blank(build, op);
  set_kind(build, &inst);
  inst.flags |= mc_has(build, "SAT") ? INST_SAT : 0;
  inst.mode = mc_has(build, "RELU");
  inst.a = half_pair(build, &index, &inst, INST_NEG_A, INST_ABS_A);
  inst.b = half_pair(build, &index, &inst, INST_NEG_B, INST_ABS_B);
  if (operands > 2)
    inst.c = added_pair(build, &index, &inst);
  inst.dst = mc_destination(build, mc_at(build, 0), 1);
  mc_emit(build, &inst);
  return true;
}

/* ptxas moves constants with it, too: -0 * 0 + c. */
bool mc_hfma2(McBuild *build) {
  const McOperand *a = mc_at(build, 1), *b = mc_at(build, 2), *high = mc_at(build, 3), *low = mc_at(build, 4);
  bool nothing = a->kind == MC_REGISTER && a->number == MC_RZ && b->kind == MC_REGISTER && b->number == MC_RZ;
  if (!nothing || !is_number(high) || !is_number(low))
    return arithmetic(build, OP_HFMA2, 3);
  Inst inst = mc_blank(build, OP_MOV);
  inst.a = mc_constant(build, pair_bits(build, 3));
  inst.dst = mc_destination(build, mc_at(build, 0), 1);
  mc_emit(build, &inst);
  return true;
}

static int16_t with_bits(McBuild *build, int16_t row, LogicOp op, uint32_t bits) {
  Inst inst = mc_blank(build, OP_LOP);
  inst.lop = (uint8_t)op;
  inst.a = row;
  inst.b = mc_constant(build, bits);
  inst.dst = mc_scratch(build, 1);
  mc_emit(build, &inst);
  return inst.dst;
}

/* A half of a register as a float. */
static int16_t widened(McBuild *build, McOperand from, int16_t to) {
  uint32_t shift = from.part == MC_H1_H1 ? 16 : 0;
  bool minus = from.minus, absolute = from.absolute;
  from.part = MC_ALL;
  from.minus = from.absolute = false;
  Inst low = mc_blank(build, OP_SHR), inst = mc_blank(build, OP_CVT);
  inst.type = TYPE_F32;
  inst.type2 = TYPE_F16;
  inst.flags |= mc_has(build, "FTZ") ? INST_FTZ : 0;
  low.type = TYPE_U32;
  low.a = mc_value(build, &from);
  low.b = mc_constant(build, shift);
  low.dst = inst.a = mc_scratch(build, 1);
  mc_emit(build, &low);
  inst.a = absolute ? with_bits(build, inst.a, LOP_AND, 0x7fff) : inst.a;
  inst.a = minus ? with_bits(build, inst.a, LOP_XOR, 0x8000) : inst.a;
  inst.dst = to;
  mc_emit(build, &inst);
  return to;
}

static bool is_nothing(const McOperand *operand) {
  return operand->kind == MC_REGISTER && operand->number == MC_RZ && operand->minus;
}

static bool is_one_half(const McOperand *operand) {
  return operand->kind == MC_REGISTER && (operand->part == MC_H0_H0 || operand->part == MC_H1_H1);
}

/* HADD2.F32 R0, -RZ, |R1.H0_H0|: a half as a float; HADD2.F32 R0, R1.H0_H0, 0.5, 0.5: its sum with another one.
 * Turing has -RZ behind. */
static bool half_to_float(McBuild *build) {
  const McOperand *a = mc_at(build, 1), *b = mc_at(build, 2);
  int16_t to = mc_destination(build, mc_at(build, 0), 1);
  bool number = mc_count(build) == 4 && is_number(b) && is_number(mc_at(build, 3));
  if (!number && mc_count(build) != 3)
    return mc_refuse(build);
  if (is_nothing(a) || is_nothing(b)) {
    const McOperand *from = is_nothing(a) ? b : a;
    return is_one_half(from) ? widened(build, *from, to) == to : mc_refuse(build);
  }
  if (!is_one_half(a) || (!number && !is_one_half(b)))
    return mc_refuse(build);
  Inst inst = mc_blank(build, OP_FADD);
  inst.a = widened(build, *a, mc_scratch(build, 1));
  inst.b = number ? mc_float(build, mc_at(build, 3)) : widened(build, *b, mc_scratch(build, 1));
  inst.flags |= mc_has(build, "FTZ") ? INST_FTZ : 0;
  inst.dst = to;
  mc_emit(build, &inst);
  return true;
}

bool mc_hadd2(McBuild *build) { return mc_has(build, "F32") ? half_to_float(build) : arithmetic(build, OP_HADD2, 2); }

bool mc_hmul2(McBuild *build) { return arithmetic(build, OP_HMUL2, 2); }

/* ---- comparisons ---- */

static void set_logic(const McBuild *build, Inst *inst) {
  inst->lop = mc_has(build, "OR") ? LOP_OR : mc_has(build, "XOR") ? LOP_XOR : LOP_AND;
}

/* Operands a, b and the predicate behind them, from operand `index` on. False after mc_refuse(). */
static bool set_compared(McBuild *build, Inst *inst, guint index) {
  int cmp = mc_comparison(build);
  if (cmp < 0 || mc_has(build, "H_AND"))
    return mc_refuse(build);
  set_kind(build, inst);
  set_logic(build, inst);
  inst->cmp = (uint8_t)cmp;
  inst->a = half_pair(build, &index, inst, INST_NEG_A, INST_ABS_A);
  inst->b = half_pair(build, &index, inst, INST_NEG_B, INST_ABS_B);
  mc_predicate_in(inst, 0, mc_at(build, index));
  return !build->failed;
}

/* HSETP2.GT.AND P0, P1, R0, R1, PT: of the low halves and of the high ones. */
bool mc_hsetp2(McBuild *build) {
  Inst inst = mc_blank(build, OP_HSETP2);
  inst.pdst = mc_predicate_out(mc_at(build, 0));
  inst.pdst2 = mc_predicate_out(mc_at(build, 1));
  if (!set_compared(build, &inst, 2))
    return false;
  mc_emit(build, &inst);
  return true;
}

/* HSET2.BF.GT.AND R0, R1, R2, PT: ones or zeros in each half; with BF 1.0 or 0. */
bool mc_hset2(McBuild *build) {
  Inst inst = mc_blank(build, OP_HSET2);
  inst.flags |= mc_has(build, "BF") ? INST_BF : 0;
  if (!set_compared(build, &inst, 1))
    return false;
  inst.dst = mc_destination(build, mc_at(build, 0), 1);
  mc_emit(build, &inst);
  return true;
}

/* Of three numbers, without signs: the extreme of two and the third. */
bool mc_vhmnmx(McBuild *build) {
  Inst inst = mc_blank(build, OP_HMNMX2);
  if (!mc_only(build, "BF16_V2", "NAN", NULL) || mc_count(build) != 5)
    return mc_refuse(build);
  set_kind(build, &inst);
  inst.flags |= mc_has(build, "NAN") ? INST_KEEP_NAN : 0;
  mc_predicate_in(&inst, 0, mc_at(build, 4));
  inst.a = mc_value(build, mc_at(build, 1));
  inst.b = mc_value(build, mc_at(build, 2));
  inst.dst = mc_scratch(build, 1);
  mc_emit(build, &inst);
  inst.a = inst.dst;
  inst.b = mc_value(build, mc_at(build, 3));
  inst.dst = mc_destination(build, mc_at(build, 0), 1);
  mc_emit(build, &inst);
  return true;
}

bool mc_hmnmx2(McBuild *build) {
  guint index = 1;
  Inst inst = mc_blank(build, OP_HMNMX2);
  if (!mc_only(build, "BF16_V2", "FTZ", "NAN", NULL))
    return mc_refuse(build);
  set_kind(build, &inst);
  inst.flags |= mc_has(build, "NAN") ? INST_KEEP_NAN : 0;
  inst.a = half_pair(build, &index, &inst, INST_NEG_A, INST_ABS_A);
  inst.b = half_pair(build, &index, &inst, INST_NEG_B, INST_ABS_B);
  mc_predicate_in(&inst, 0, mc_at(build, index));
  inst.dst = mc_destination(build, mc_at(build, 0), 1);
  mc_emit(build, &inst);
  return true;
}
