/* Lowering of least and greatest integers, and of instructions on several halves or bytes of a word. */
#include <string.h>

#include "isa/mc/mc_build.h"

static DataType int_type(const McBuild *build) { return mc_has(build, "U32") ? TYPE_U32 : TYPE_S32; }

/* ---- extremes ---- */

static bool has_halves(const McBuild *build) { return mc_has(build, "S16x2") || mc_has(build, "U16x2"); }

/* Of whole words, or of the halves that the modifiers name. */
static Opcode extreme_op(const McBuild *build) { return has_halves(build) ? OP_IMNMX2 : OP_IMNMX; }

static void choose(McBuild *build, int16_t dst, int16_t a, int16_t b, const McOperand *predicate) {
  Inst inst = mc_blank(build, extreme_op(build));
  inst.type = (uint8_t)(!has_halves(build) ? int_type(build) : mc_has(build, "U16x2") ? TYPE_U16 : TYPE_S16);
  inst.a = a;
  inst.b = b;
  inst.dst = dst;
  mc_predicate_in(&inst, 0, predicate);
  mc_emit(build, &inst);
}

/* `length` bits of `row` from bit `position` on, into `dst`. */
static void take_bits(McBuild *build, int16_t row, uint32_t position, uint32_t length, bool sign, int16_t dst) {
  Inst inst = mc_blank(build, OP_BFE);
  inst.type = sign ? TYPE_S32 : TYPE_U32;
  inst.a = row;
  inst.b = mc_constant(build, position | length << 8);
  inst.dst = dst;
  mc_emit(build, &inst);
}

/* The extreme of a and b as `predicate` chooses it; with RELU 0 if it is less. */
static void extreme(McBuild *build, int16_t dst, int16_t a, int16_t b, const McOperand *predicate, bool positive) {
  static const McOperand greater = {.kind = MC_PREDICATE, .number = MC_PT, .negated = true};
  int16_t found = positive ? mc_scratch(build, 1) : dst;
  choose(build, found, a, b, predicate);
  if (positive)
    choose(build, dst, found, mc_constant(build, 0), &greater);
}

/* VIMNMX.U16x2 R0, P0, P1, R1, R2, PT: whether a's low half was taken, or b's was the same, and a's high one. */
static bool extreme_told(McBuild *build) {
  enum { HALF = 0x10000 };
  int16_t a = mc_signed_value(build, mc_at(build, 3)), found = mc_scratch(build, 1), low = mc_scratch(build, 1);
  if (!has_halves(build) || mc_has(build, "RELU") || mc_count(build) != 6)
    return mc_refuse(build);
  extreme(build, found, a, mc_signed_value(build, mc_at(build, 4)), mc_at(build, 5), false);
  Inst differ = mc_blank(build, OP_LOP), tell = mc_blank(build, OP_ISETP);
  differ.lop = LOP_XOR;
  differ.a = found;
  differ.b = a;
  differ.dst = mc_scratch(build, 1);
  mc_emit(build, &differ);
  tell.type = TYPE_U32;
  tell.cmp = CMP_LT;
  tell.a = differ.dst;
  tell.b = mc_constant(build, HALF);
  tell.pdst = mc_predicate_out(mc_at(build, 2));
  mc_emit(build, &tell);
  take_bits(build, differ.dst, 0, 16, false, low);
  tell.cmp = CMP_EQ;
  tell.a = low;
  tell.b = mc_constant(build, 0);
  tell.pdst = mc_predicate_out(mc_at(build, 1));
  mc_emit(build, &tell);
  Inst move = mc_blank(build, OP_MOV);
  move.a = found;
  move.dst = mc_destination(build, mc_at(build, 0), 1);
  mc_emit(build, &move);
  return true;
}

bool mc_imnmx(McBuild *build) {
  if (!mc_only(build, "U32", "S32", "S16x2", "U16x2", "RELU", NULL))
    return mc_refuse(build);
  if (mc_is_predicate(mc_at(build, 1)))
    return extreme_told(build);
  int16_t a = mc_signed_value(build, mc_at(build, 1)), b = mc_signed_value(build, mc_at(build, 2));
  extreme(build, mc_destination(build, mc_at(build, 0), 1), a, b, mc_at(build, 3), mc_has(build, "RELU"));
  return true;
}

bool mc_vimnmx3(McBuild *build) {
  if (!mc_only(build, "U32", "S16x2", "U16x2", "RELU", NULL))
    return mc_refuse(build);
  int16_t a = mc_signed_value(build, mc_at(build, 1)), b = mc_signed_value(build, mc_at(build, 2)),
          c = mc_signed_value(build, mc_at(build, 3)), between = mc_scratch(build, 1);
  extreme(build, between, a, b, mc_at(build, 4), false);
  extreme(build, mc_destination(build, mc_at(build, 0), 1), between, c, mc_at(build, 4), mc_has(build, "RELU"));
  return true;
}

bool mc_viaddmnmx(McBuild *build) {
  if (!mc_only(build, "U32", "S16x2", "U16x2", "RELU", NULL))
    return mc_refuse(build);
  Inst sum = mc_blank(build, has_halves(build) ? OP_IADD2 : OP_IADD);
  sum.a = mc_signed_value(build, mc_at(build, 1));
  sum.b = mc_signed_value(build, mc_at(build, 2));
  int16_t c = mc_signed_value(build, mc_at(build, 3));
  sum.dst = mc_scratch(build, 1);
  mc_emit(build, &sum);
  extreme(build, mc_destination(build, mc_at(build, 0), 1), sum.dst, c, mc_at(build, 4), mc_has(build, "RELU"));
  return true;
}

/* ---- sums, differences and products ---- */

bool mc_viadd(McBuild *build) {
  if (!mc_only(build, "16x2", NULL))
    return mc_refuse(build);
  const McOperand *a = mc_at(build, 1), *b = mc_at(build, 2);
  Inst inst = mc_blank(build, mc_has(build, "16x2") ? OP_IADD2 : OP_IADD);
  inst.dst = mc_destination(build, mc_at(build, 0), 1);
  inst.a = mc_value(build, a);
  inst.b = mc_value(build, b);
  inst.flags |= (a->minus || a->inverted ? INST_NEG_A : 0) | (b->minus || b->inverted ? INST_NEG_B : 0);
  mc_emit(build, &inst);
  return true;
}

bool mc_vabsdiff(McBuild *build) {
  if (!mc_only(build, "U32", NULL))
    return mc_refuse(build);
  Inst inst = mc_blank(build, OP_SAD);
  inst.type = (uint8_t)int_type(build);
  inst.a = mc_signed_value(build, mc_at(build, 1));
  inst.b = mc_signed_value(build, mc_at(build, 2));
  inst.c = mc_signed_value(build, mc_at(build, 3));
  inst.dst = mc_destination(build, mc_at(build, 0), 1);
  mc_emit(build, &inst);
  return true;
}

/* The products of a's halves and two of b's bytes. */
static bool dot_of_two(McBuild *build, bool high) {
  const McOperand *a = mc_at(build, 1), *b = mc_at(build, 2);
  int16_t half = mc_scratch(build, 1), byte = mc_scratch(build, 1), sum = mc_signed_value(build, mc_at(build, 3)),
          between = mc_scratch(build, 1), to = mc_destination(build, mc_at(build, 0), 1);
  for (uint32_t i = 0; i < 2; i++) {
    take_bits(build, mc_value(build, a), 16 * i, 16, mc_has(build, "S16"), half);
    take_bits(build, mc_value(build, b), (high ? 16 : 0) + 8 * i, 8, mc_has(build, "S8"), byte);
    Inst inst = mc_blank(build, OP_IMAD);
    inst.a = half;
    inst.b = byte;
    inst.c = sum;
    inst.dst = sum = i ? to : between;
    mc_emit(build, &inst);
  }
  return true;
}

bool mc_idp(McBuild *build) {
  const char *const *types = build->inst->modifiers;
  if (mc_has(build, "2A"))
    return mc_only(build, "2A", "LO", "HI", "U16", "S16", "U8", "S8", NULL) ? dot_of_two(build, mc_has(build, "HI"))
                                                                            : mc_refuse(build);
  bool four = types[0] && strcmp(types[0], "4A") == 0 && types[1] && types[2] && !types[3];
  if (!four)
    return mc_refuse(build);
  Inst inst = mc_blank(build, OP_DP4A);
  inst.type = strcmp(types[1], "S8") == 0 ? TYPE_S32 : TYPE_U32;
  inst.type2 = strcmp(types[2], "S8") == 0 ? TYPE_S32 : TYPE_U32;
  inst.a = mc_value(build, mc_at(build, 1));
  inst.b = mc_value(build, mc_at(build, 2));
  inst.c = mc_signed_value(build, mc_at(build, 3));
  inst.dst = mc_destination(build, mc_at(build, 0), 1);
  mc_emit(build, &inst);
  return true;
}

/* How far bytes of a and b are apart: each in its place, or with ACC their sum and c. */
bool mc_vabsdiff4(McBuild *build) {
  bool adds = mc_has(build, "ACC"), sign = mc_has(build, "S8");
  if (!mc_only(build, "U8", "S8", "ACC", NULL) || (sign && !adds))
    return mc_refuse(build);
  int16_t a = mc_scratch(build, 1), b = mc_scratch(build, 1), between = mc_scratch(build, 1),
          sum = adds ? mc_value(build, mc_at(build, 3)) : mc_constant(build, 0),
          to = mc_destination(build, mc_at(build, 0), 1);
  for (uint32_t i = 0; i < 4; i++) {
    uint32_t byte = adds ? i : 3 - i; /* the highest first */
    take_bits(build, mc_value(build, mc_at(build, 1)), 8 * byte, 8, sign, a);
    take_bits(build, mc_value(build, mc_at(build, 2)), 8 * byte, 8, sign, b);
    Inst apart = mc_blank(build, OP_SAD), join = mc_blank(build, OP_ISCADD);
    apart.a = a;
    apart.b = b;
    apart.c = adds ? sum : mc_constant(build, 0);
    apart.dst = !adds ? a : i == 3 ? to : between;
    mc_emit(build, &apart);
    join.a = sum;
    join.mode = 8;
    join.b = a;
    join.dst = i == 3 ? to : between;
    if (!adds)
      mc_emit(build, &join);
    sum = adds ? apart.dst : join.dst;
  }
  return true;
}
