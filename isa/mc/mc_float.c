/* Lowering of floats, single and double, and of all conversions. */
#include <math.h>
#include <string.h>

#include "isa/mc/mc_build.h"

static FloatRound rounding(const McBuild *build) {
  return mc_has(build, "RM")   ? FROUND_DOWN
         : mc_has(build, "RP") ? FROUND_UP
         : mc_has(build, "RZ") ? FROUND_ZERO
                               : FROUND_NEAREST;
}

static uint32_t signs(const McOperand *operand, uint32_t minus, uint32_t absolute) {
  return (operand->minus ? minus : 0) | (operand->absolute ? absolute : 0);
}

/* Sets operands a and b, which are `first` and the one behind it. */
static void set_a_b(McBuild *build, Inst *inst, guint first, bool wide) {
  const McOperand *a = mc_at(build, first), *b = mc_at(build, first + 1);
  inst->a = wide ? mc_double(build, a) : mc_float(build, a);
  inst->b = wide ? mc_double(build, b) : mc_float(build, b);
  inst->flags |= signs(a, INST_NEG_A, INST_ABS_A) | signs(b, INST_NEG_B, INST_ABS_B);
  inst->wide |= wide ? WIDE_A | WIDE_B : 0;
}

/* A double without its sign. */
static int16_t bare_double(McBuild *build, int16_t row) {
  Inst low = mc_blank(build, OP_MOV), high = mc_blank(build, OP_LOP);
  int16_t to = mc_scratch(build, 2);
  low.a = row;
  low.dst = to;
  high.lop = LOP_AND;
  high.a = (int16_t)(row + 1);
  high.b = mc_constant(build, 0x7fffffff);
  high.dst = (int16_t)(to + 1);
  mc_emit(build, &low);
  mc_emit(build, &high);
  return to;
}

static void set_c(McBuild *build, Inst *inst, guint index, bool wide) {
  const McOperand *c = mc_at(build, index);
  if (c->absolute && !wide) {
    inst->c = mc_signed_float(build, c);
    return;
  }
  inst->c = wide ? mc_double(build, c) : mc_float(build, c);
  if (c->absolute)
    inst->c = bare_double(build, inst->c);
  inst->flags |= signs(c, INST_NEG_C, 0);
  inst->wide |= wide ? WIDE_C : 0;
}

static bool arithmetic(McBuild *build, Opcode op, bool wide, bool three) {
  if (!mc_only(build, "FTZ", "SAT", "RN", "RM", "RP", "RZ", NULL))
    return mc_refuse(build);
  Inst inst = mc_blank(build, op);
  inst.type = wide ? TYPE_F64 : TYPE_F32;
  inst.round = (uint8_t)rounding(build);
  inst.flags |= (mc_has(build, "FTZ") ? INST_FTZ : 0) | (mc_has(build, "SAT") ? INST_SAT : 0);
  set_a_b(build, &inst, 1, wide);
  if (three)
    set_c(build, &inst, 3, wide);
  inst.dst = mc_destination(build, mc_at(build, 0), wide ? 2 : 1);
  inst.wide |= wide ? WIDE_DST : 0;
  mc_emit(build, &inst);
  return true;
}

bool mc_fadd(McBuild *build) { return arithmetic(build, OP_FADD, false, false); }
bool mc_fmul(McBuild *build) { return arithmetic(build, OP_FMUL, false, false); }
bool mc_ffma(McBuild *build) { return arithmetic(build, OP_FFMA, false, true); }
bool mc_dadd(McBuild *build) { return arithmetic(build, OP_DADD, true, false); }
bool mc_dmul(McBuild *build) { return arithmetic(build, OP_DMUL, true, false); }
bool mc_dfma(McBuild *build) { return arithmetic(build, OP_DFMA, true, true); }

bool mc_fmnmx(McBuild *build) {
  if (!mc_only(build, "FTZ", "NAN", NULL))
    return mc_refuse(build);
  Inst inst = mc_blank(build, OP_FMNMX);
  inst.type = TYPE_F32;
  inst.flags |= (mc_has(build, "FTZ") ? INST_FTZ : 0) | (mc_has(build, "NAN") ? INST_KEEP_NAN : 0);
  set_a_b(build, &inst, 1, false);
  inst.dst = mc_destination(build, mc_at(build, 0), 1);
  mc_predicate_in(&inst, 0, mc_at(build, 3));
  mc_emit(build, &inst);
  return true;
}

bool mc_fsel(McBuild *build) {
  if (!mc_only(build, NULL))
    return mc_refuse(build);
  int16_t a = mc_signed_float(build, mc_at(build, 1)), b = mc_signed_float(build, mc_at(build, 2));
  Inst inst = mc_blank(build, OP_SEL);
  inst.a = a;
  inst.b = b;
  inst.dst = mc_destination(build, mc_at(build, 0), 1);
  mc_predicate_in(&inst, 0, mc_at(build, 3));
  mc_emit(build, &inst);
  return true;
}

/* ---- comparisons ---- */

int mc_comparison(const McBuild *build) {
  static const char *const names[] = {"F",   "LT",  "EQ",  "LE",  "GT",  "NE",  "GE",  "T",
                                      "LTU", "EQU", "LEU", "GTU", "NEU", "GEU", "NUM", "NAN"};
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    if (mc_has(build, names[i]))
      return (int)(CMP_F + i);
  return -1;
}

static bool compare(McBuild *build, Opcode op, bool wide) {
  int cmp = mc_comparison(build);
  if (cmp < 0 || mc_has(build, "MIN") || mc_has(build, "MAX") || mc_count(build) < 5)
    return mc_refuse(build);
  Inst inst = mc_blank(build, op);
  inst.type = wide ? TYPE_F64 : TYPE_F32;
  inst.cmp = (uint8_t)cmp;
  inst.lop = mc_has(build, "OR") ? LOP_OR : mc_has(build, "XOR") ? LOP_XOR : LOP_AND;
  inst.flags |= mc_has(build, "FTZ") ? INST_FTZ : 0;
  inst.pdst = mc_predicate_out(mc_at(build, 0));
  inst.pdst2 = mc_predicate_out(mc_at(build, 1));
  set_a_b(build, &inst, 2, wide);
  mc_predicate_in(&inst, 0, mc_at(build, 4));
  mc_emit(build, &inst);
  return true;
}

bool mc_fsetp(McBuild *build) { return compare(build, OP_FSETP, false); }

/* FSET.BF.LT.AND R0, R1, R2, PT: ones or zeros; with BF 1.0f or 0. */
bool mc_fset(McBuild *build) {
  int cmp = mc_comparison(build);
  if (cmp < 0 || mc_count(build) < 4)
    return mc_refuse(build);
  Inst inst = mc_blank(build, OP_FSETP), choose = mc_blank(build, OP_SEL);
  inst.type = TYPE_F32;
  inst.cmp = (uint8_t)cmp;
  inst.lop = mc_has(build, "OR") ? LOP_OR : mc_has(build, "XOR") ? LOP_XOR : LOP_AND;
  inst.flags |= mc_has(build, "FTZ") ? INST_FTZ : 0;
  inst.pdst = choose.psrc[0] = mc_scratch_predicate(build);
  set_a_b(build, &inst, 1, false);
  mc_predicate_in(&inst, 0, mc_at(build, 3));
  mc_emit(build, &inst);
  choose.a = mc_constant(build, mc_has(build, "BF") ? 0x3f800000 : UINT32_MAX);
  choose.b = mc_constant(build, 0);
  choose.dst = mc_destination(build, mc_at(build, 0), 1);
  mc_emit(build, &choose);
  return true;
}

/* fmin() and fmax() of doubles: p says that a is to be taken, p2 that neither is a number: then the code makes a
 * quiet NaN of b. */
static bool extreme(McBuild *build) {
  Inst less = mc_blank(build, OP_DSETP), nan = less, either = mc_blank(build, OP_PLOP3);
  enum { LESS_OR_B_ALONE = 0xf0 | (0xcc & ~0xaa), BOTH = 0xcc & 0xaa }; /* of less, b is a NaN, a is a NaN */
  bool minimum = mc_has(build, "MIN");
  less.type = nan.type = TYPE_F64;
  less.cmp = minimum ? CMP_LT : CMP_GT;
  less.pdst = mc_scratch_predicate(build);
  set_a_b(build, &less, 2, true);
  nan.cmp = CMP_NAN;
  nan.a = nan.b = less.b;
  nan.wide = WIDE_A | WIDE_B;
  nan.pdst = mc_scratch_predicate(build);
  either.pdst = mc_predicate_out(mc_at(build, 0));
  either.pdst2 = mc_predicate_out(mc_at(build, 1));
  either.psrc[0] = less.pdst;
  either.psrc[1] = nan.pdst;
  either.mode = LESS_OR_B_ALONE;
  either.imm = BOTH;
  mc_emit(build, &less);
  mc_emit(build, &nan);
  nan.a = nan.b = less.a;
  nan.pdst = either.psrc[2] = mc_scratch_predicate(build);
  mc_emit(build, &nan);
  mc_emit(build, &either);
  return true;
}

bool mc_dsetp(McBuild *build) {
  return mc_has(build, "MIN") || mc_has(build, "MAX") ? extreme(build) : compare(build, OP_DSETP, true);
}

bool mc_fchk(McBuild *build) {
  Inst inst = mc_blank(build, OP_FCHK);
  inst.pdst = mc_predicate_out(mc_at(build, 0));
  set_a_b(build, &inst, 1, false);
  mc_emit(build, &inst);
  return true;
}

/* ---- conversions ---- */

static Inst conversion(McBuild *build, DataType to, DataType from) {
  Inst inst = mc_blank(build, OP_CVT);
  inst.type = (uint8_t)to;
  inst.type2 = (uint8_t)from;
  inst.wide = (to == TYPE_F64 || to == TYPE_S64 || to == TYPE_U64 ? WIDE_DST : 0) |
              (from == TYPE_F64 || from == TYPE_S64 || from == TYPE_U64 ? WIDE_A : 0);
  inst.flags |= mc_has(build, "FTZ") ? INST_FTZ : 0;
  return inst;
}

static const struct {
  const char *name;
  DataType type;
} types[] = {
    {"S8", TYPE_S8},   {"U8", TYPE_U8},   {"S16", TYPE_S16}, {"U16", TYPE_U16},
    {"S32", TYPE_S32}, {"U32", TYPE_U32}, {"S64", TYPE_S64}, {"U64", TYPE_U64},
    {"F16", TYPE_F16}, {"F32", TYPE_F32}, {"F64", TYPE_F64}, {"BF16", TYPE_BF16},
};

/* The type that modifier `number` of those that are types names. */
static DataType named_type(const McBuild *build, unsigned number, bool floats, DataType otherwise) {
  for (unsigned i = 0; i < MC_MODIFIERS_MAX && build->inst->modifiers[i]; i++)
    for (guint t = 0; t < G_N_ELEMENTS(types); t++) {
      bool is_float = type_is_float(types[t].type);
      if (strcmp(types[t].name, build->inst->modifiers[i]) == 0 && is_float == floats && number-- == 0)
        return types[t].type;
    }
  return otherwise;
}

static bool is_wide(DataType type) { return type == TYPE_F64 || type == TYPE_S64 || type == TYPE_U64; }

/* A part of a register, at the low end of a row. */
static int16_t low_part(McBuild *build, const McOperand *operand) {
  static const uint8_t shifts[] = {[MC_H1] = 16, [MC_B1] = 8, [MC_B2] = 16, [MC_B3] = 24};
  uint32_t shift = operand->part < G_N_ELEMENTS(shifts) ? shifts[operand->part] : 0;
  McOperand whole = *operand;
  whole.part = MC_ALL;
  int16_t row = mc_signed_value(build, &whole);
  if (!shift)
    return row;
  Inst inst = mc_blank(build, OP_SHR);
  inst.type = TYPE_U32;
  inst.a = row;
  inst.b = mc_constant(build, shift);
  inst.dst = mc_scratch(build, 1);
  mc_emit(build, &inst);
  return inst.dst;
}

/* ---- functions ---- */

/* MUFU.TANH.F16 R0, R1.H1: of a half as a float, into the low half. */
static bool function_of_half(McBuild *build, DataType type, uint8_t function) {
  Inst widen = conversion(build, TYPE_F32, type), inst = mc_blank(build, OP_MUFU),
       narrow = conversion(build, type, TYPE_F32);
  widen.a = low_part(build, mc_at(build, 1));
  inst.mode = function;
  inst.type = TYPE_F32;
  widen.dst = inst.a = inst.dst = narrow.a = mc_scratch(build, 1);
  narrow.dst = mc_destination(build, mc_at(build, 0), 1);
  mc_emit(build, &widen);
  mc_emit(build, &inst);
  mc_emit(build, &narrow);
  return true;
}

/* RCP64H takes the high word of a double, which a number of its text is. */
static int16_t high_word(McBuild *build, const McOperand *number) {
  double value = number->kind == MC_REAL ? number->real : (double)(int64_t)number->value;
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return mc_constant(build, (uint32_t)(bits >> 32));
}

bool mc_mufu(McBuild *build) {
  static const char *const names[] = {
      [MUFU_RCP] = "RCP",       [MUFU_RSQ] = "RSQ",       [MUFU_SQRT] = "SQRT", [MUFU_SIN_TURNS] = "SIN",
      [MUFU_COS_TURNS] = "COS", [MUFU_EX2] = "EX2",       [MUFU_LG2] = "LG2",   [MUFU_TANH] = "TANH",
      [MUFU_RCP64H] = "RCP64H", [MUFU_RSQ64H] = "RSQ64H",
  };
  const McOperand *a = mc_at(build, 1);
  Inst inst = mc_blank(build, OP_MUFU);
  guint function = G_N_ELEMENTS(names);
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    function = names[i] && mc_has(build, names[i]) ? i : function;
  if (function == G_N_ELEMENTS(names))
    return mc_refuse(build);
  if (mc_has(build, "F16") || mc_has(build, "BF16"))
    return function_of_half(build, mc_has(build, "F16") ? TYPE_F16 : TYPE_BF16, (uint8_t)function);
  inst.mode = (uint8_t)function;
  inst.type = TYPE_F32;
  bool number = a->kind == MC_INTEGER || a->kind == MC_REAL;
  bool of_double = function == MUFU_RCP64H || function == MUFU_RSQ64H;
  inst.a = number && of_double ? high_word(build, a) : mc_float(build, a);
  inst.flags |= signs(a, INST_NEG_A, INST_ABS_A);
  inst.dst = mc_destination(build, mc_at(build, 0), 1);
  mc_emit(build, &inst);
  return true;
}

/* ---- rounding ---- */

static RoundMode round_mode(const McBuild *build) {
  return mc_has(build, "TRUNC")   ? ROUND_TRUNC
         : mc_has(build, "FLOOR") ? ROUND_FLOOR
         : mc_has(build, "CEIL")  ? ROUND_CEIL
                                  : ROUND_NEAREST;
}

/* The conversion of a value to the first operand. */
static bool convert(McBuild *build, DataType to, DataType from, int16_t row, uint32_t flags) {
  Inst inst = conversion(build, to, from);
  inst.round = (uint8_t)rounding(build);
  inst.mode = (uint8_t)round_mode(build);
  inst.flags |= flags;
  inst.a = row;
  inst.dst = mc_destination(build, mc_at(build, 0), is_wide(to) ? 2 : 1);
  mc_emit(build, &inst);
  return true;
}

bool mc_i2f(McBuild *build) {
  DataType to = named_type(build, 0, true, TYPE_F32), from = named_type(build, 0, false, TYPE_S32);
  const McOperand *a = mc_at(build, 1);
  if (is_wide(from) && (a->minus || a->absolute))
    return mc_refuse(build);
  return convert(build, to, from, is_wide(from) ? mc_pair(build, a) : low_part(build, a), 0);
}

/* A float or double with its signs. Those of a half stand elsewhere: it has none here. */
static int16_t signed_source(McBuild *build, const McOperand *operand, DataType type) {
  bool half = type == TYPE_F16 || type == TYPE_BF16;
  if (half && (operand->minus || operand->absolute))
    mc_refuse(build);
  if (half && operand->kind == MC_REGISTER)
    return low_part(build, operand);
  if (type != TYPE_F64)
    return mc_signed_float(build, operand);
  if (!operand->minus && !operand->absolute)
    return mc_double(build, operand);
  Inst inst = mc_blank(build, OP_DADD); /* x + -0 is x */
  inst.type = TYPE_F64;
  inst.wide = WIDE_DST | WIDE_A | WIDE_B;
  inst.a = mc_double(build, operand);
  inst.flags |= signs(operand, INST_NEG_A, INST_ABS_A);
  inst.b = mc_constant_pair(build, UINT64_C(1) << 63);
  inst.dst = mc_scratch(build, 2);
  mc_emit(build, &inst);
  return inst.dst;
}

bool mc_f2i(McBuild *build) {
  DataType to = named_type(build, 0, false, TYPE_S32), from = named_type(build, 0, true, TYPE_F32);
  return convert(build, to, from, signed_source(build, mc_at(build, 1), from), 0);
}

/* I2I.U8.S32.SAT R0, R1 */
bool mc_i2i(McBuild *build) {
  DataType to = named_type(build, 0, false, TYPE_S32), from = named_type(build, 1, false, TYPE_S32);
  if (!mc_has(build, "SAT"))
    return mc_refuse(build);
  return convert(build, to, from, mc_value(build, mc_at(build, 1)), INST_SAT);
}

bool mc_f2f(McBuild *build) {
  DataType to = named_type(build, 0, true, TYPE_F32), from = named_type(build, 1, true, TYPE_F32);
  return (from == TYPE_F16 && to == TYPE_F64) || (from != TYPE_F16 && from != TYPE_BF16)
             ? convert(build, to, from, signed_source(build, mc_at(build, 1), from), 0)
             : mc_refuse(build);
}

/* The greater of each half and 0. */
static void clamp_halves(McBuild *build, int16_t row, DataType type) {
  Inst inst = mc_blank(build, OP_HMNMX2);
  inst.type = (uint8_t)type;
  inst.flags |= INST_KEEP_NAN;
  inst.a = inst.dst = row;
  inst.b = mc_constant(build, 0);
  mc_predicate_in(&inst, 0, NULL);
  mc_emit(build, &inst);
}

/* F2FP.F16.F32.PACK_AB d, a, b: the halves (or bfloat16s) of a (high) and b. Those of 8 bits aren't modelled. */
bool mc_f2fp(McBuild *build) {
  if (!mc_only(build, "F16", "BF16", "F32", "PACK_AB", "RZ", "RELU", NULL))
    return mc_refuse(build);
  DataType to = mc_has(build, "BF16") ? TYPE_BF16 : TYPE_F16;
  int16_t parts[2];
  for (unsigned i = 0; i < 2; i++) {
    int16_t row = mc_signed_float(build, mc_at(build, 1 + i));
    Inst inst = conversion(build, to, TYPE_F32);
    inst.round = (uint8_t)rounding(build);
    inst.a = row;
    inst.dst = parts[i] = mc_scratch(build, 1);
    mc_emit(build, &inst);
  }
  Inst pack = mc_blank(build, OP_PRMT);
  pack.a = parts[1];
  pack.b = parts[0];
  pack.c = mc_constant(build, 0x5410);
  pack.dst = mc_destination(build, mc_at(build, 0), 1);
  mc_emit(build, &pack);
  if (mc_has(build, "RELU"))
    clamp_halves(build, pack.dst, to);
  return true;
}

bool mc_frnd(McBuild *build) {
  DataType type = named_type(build, 0, true, TYPE_F32);
  return convert(build, type, type, signed_source(build, mc_at(build, 1), type), INST_INTEGRAL);
}
