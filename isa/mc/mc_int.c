/* Lowering of moves, integer and logic instructions, and predicates. */
#include <string.h>

#include "isa/mc/mc_build.h"
#include "isa/sass_names.h"

static DataType int_type(const McBuild *build) { return mc_has(build, "U32") ? TYPE_U32 : TYPE_S32; }

/* Predicates from operand `from` on: how many follow each other. */
static guint predicates_from(const McBuild *build, guint from) {
  guint count = 0;
  while (from + count < mc_count(build) && mc_is_predicate(mc_at(build, from + count)))
    count++;
  return count;
}

static uint32_t negation(const McOperand *operand, uint32_t flag) {
  return operand->minus || operand->inverted ? flag : 0;
}

/* Without optimization many registers are moved to themselves, which doesn't change what a loop polls. */
static bool move(McBuild *build, const McOperand *to, int16_t from) {
  Inst inst = mc_blank(build, mc_destination(build, to, 1) == from ? OP_NOP : OP_MOV);
  inst.dst = mc_destination(build, to, 1);
  inst.a = from;
  mc_emit(build, &inst);
  return true;
}

bool mc_mov(McBuild *build) { return move(build, mc_at(build, 0), mc_signed_value(build, mc_at(build, 1))); }

/* ---- special registers ---- */

typedef struct Special {
  const char *name;
  int which; /* SpecialReg; -1: 0 always */
} Special;

static const Special specials[] = {
    {"SR_LANEID", SR_LANEID},
    {"SR_TID.X", SR_TID_X},
    {"SR_TID.Y", SR_TID_Y},
    {"SR_TID.Z", SR_TID_Z},
    {"SR_CTAID.X", SR_CTAID_X},
    {"SR_CTAID.Y", SR_CTAID_Y},
    {"SR_CTAID.Z", SR_CTAID_Z},
    {"SR_NTID", SR_NTID_X},
    {"SR_VIRTUALSMID", SR_SMID},
    {"SR_CLOCKLO", SR_CLOCKLO},
    {"SR_CLOCKHI", SR_CLOCKHI},
    {"SR_EQMASK", SR_LANEMASK_EQ},
    {"SR_LTMASK", SR_LANEMASK_LT},
    {"SR_LEMASK", SR_LANEMASK_LE},
    {"SR_GTMASK", SR_LANEMASK_GT},
    {"SR_GEMASK", SR_LANEMASK_GE},
    {"SR_GLOBALTIMERLO", SR_GLOBALTIMERLO},
    {"SR_GLOBALTIMERHI", SR_GLOBALTIMERHI},
    {"SR_SMEMSZ", SR_SHARED_BYTES},
    {"SR_LMEMHIOFF", -1}, /* the least stack pointer: code without optimisation compares with it */
    {"SR_CgaCtaId", -1},
    {"SR_CTAID_IN_CGA", -1},
    {"SR_PM0", -1},
    {"SRZ", -1},
};

/* SR_CgaCtaId in a cluster of several blocks. */
static const Special rank_in_cluster = {"SR_CgaCtaId", SR_CLUSTER_CTARANK};

static const Special *find_special(const McOperand *operand) {
  for (guint i = 0; operand->kind == MC_SPECIAL && i < G_N_ELEMENTS(specials); i++)
    if (strcmp(specials[i].name, operand->text) == 0)
      return &specials[i];
  return NULL;
}

/* SR_VIRTID: the number of the warp in bits 8 to 14, that of the SM in bits 20 to 28; SR_VIRTCFG: how many there
 * are. */
static bool virtual_id(McBuild *build, SpecialReg of_warp, SpecialReg of_sm) {
  enum { WARP_SHIFT = 8, SM_SHIFT = 20 };
  Inst sm = mc_blank(build, OP_S2R), warp = mc_blank(build, OP_S2R), shift = mc_blank(build, OP_SHL);
  sm.mode = (uint8_t)of_sm;
  sm.dst = mc_scratch(build, 1);
  warp.mode = (uint8_t)of_warp;
  warp.dst = mc_scratch(build, 1);
  shift.a = warp.dst;
  shift.b = mc_constant(build, WARP_SHIFT);
  shift.dst = mc_scratch(build, 1);
  Inst sum = mc_blank(build, OP_ISCADD);
  sum.a = sm.dst;
  sum.mode = SM_SHIFT;
  sum.b = shift.dst;
  sum.dst = mc_destination(build, mc_at(build, 0), 1);
  mc_emit(build, &sm);
  mc_emit(build, &warp);
  mc_emit(build, &shift);
  mc_emit(build, &sum);
  return true;
}

static bool read_special(McBuild *build, bool wide) {
  const McOperand *name = mc_at(build, 1);
  const Special *special = find_special(name);
  if (name->kind == MC_SPECIAL && strcmp(name->text, "SR_VIRTID") == 0)
    return virtual_id(build, SR_WARPID, SR_SMID);
  if (name->kind == MC_SPECIAL && strcmp(name->text, "SR_VIRTCFG") == 0)
    return virtual_id(build, SR_NWARPID, SR_NSMID);
  if (name->kind == MC_SPECIAL && strcmp(name->text, "SR_SWINHI") == 0)
    return move(build, mc_at(build, 0), mc_constant(build, SHARED_HIGH));
  if (!special)
    return mc_refuse(build);
  if (build->kernel->ranked && strcmp(special->name, "SR_CgaCtaId") == 0)
    special = &rank_in_cluster;
  Inst inst = mc_blank(build, special->which >= 0 ? OP_S2R : wide ? OP_MOV64 : OP_MOV);
  inst.dst = mc_destination(build, mc_at(build, 0), wide ? 2 : 1);
  if (special->which < 0) {
    inst.a = wide ? mc_constant_pair(build, 0) : mc_constant(build, 0);
    inst.wide = wide ? WIDE_DST | WIDE_A : 0;
  } else {
    inst.mode = (uint8_t)special->which;
    if (wide && special->which == SR_CLOCKLO)
      inst.mode = SR_CLOCK64;
    if (wide && special->which == SR_GLOBALTIMERLO)
      inst.mode = SR_GLOBALTIMER;
    inst.wide = wide ? WIDE_DST : 0;
  }
  mc_emit(build, &inst);
  return true;
}

bool mc_s2r(McBuild *build) { return read_special(build, false); }

bool mc_s2ur(McBuild *build) {
  mc_guard_path(build);
  return read_special(build, false);
}

bool mc_cs2r(McBuild *build) { return read_special(build, !mc_has(build, "32")); }

bool mc_lepc(McBuild *build) {
  const McOperand *place = mc_at(build, 1);
  uint64_t address = mc_count(build) > 1 ? place->value : build->inst->address;
  Inst inst = mc_blank(build, OP_MOV64);
  inst.dst = mc_destination(build, mc_at(build, 0), 2);
  inst.a = mc_constant_pair(build, address);
  inst.wide = WIDE_DST | WIDE_A;
  mc_emit(build, &inst);
  return true;
}

/* ---- sums ---- */

static bool is_nothing(const McOperand *operand) {
  return (operand->kind == MC_REGISTER && operand->number == MC_RZ) ||
         (operand->kind == MC_UNIFORM && operand->number == MC_URZ);
}

/* UIADD3.64 UR4, UR4, -0x10, URZ: two sums. */
static bool add_wide(McBuild *build) {
  const McOperand *c = mc_at(build, 3);
  int16_t sum = mc_pair(build, mc_at(build, 1));
  if (!mc_only(build, "64", NULL) || mc_at(build, 1)->minus)
    return mc_refuse(build);
  for (guint i = 2; i < 4; i++) {
    bool last = i == 3 || is_nothing(c);
    Inst inst = mc_blank(build, mc_at(build, i)->minus ? OP_ISUB64 : OP_IADD64);
    inst.wide = WIDE_DST | WIDE_A | WIDE_B;
    inst.a = sum;
    inst.b = mc_pair(build, mc_at(build, i));
    inst.dst = sum = last ? mc_destination(build, mc_at(build, 0), 2) : mc_scratch(build, 2);
    mc_emit(build, &inst);
    if (last)
      break;
  }
  return true;
}

static bool add(McBuild *build, Opcode op, const McOperand *a, const McOperand *b) {
  Inst inst = mc_blank(build, op);
  inst.dst = mc_destination(build, mc_at(build, 0), 1);
  inst.a = mc_value(build, a);
  inst.b = mc_value(build, b);
  inst.flags |= negation(a, INST_NEG_A) | negation(b, INST_NEG_B);
  mc_emit(build, &inst);
  return true;
}

bool mc_iadd3(McBuild *build) {
  guint carries = predicates_from(build, 1), at = 1 + carries;
  const McOperand *a = mc_at(build, at), *b = mc_at(build, at + 1), *c = mc_at(build, at + 2);
  guint added = predicates_from(build, at + 3);
  Inst inst = mc_blank(build, OP_IADD3);
  if (mc_has(build, "64"))
    return !carries && !added ? add_wide(build) : mc_refuse(build);
  if (!mc_only(build, "X", NULL) || a->absolute || b->absolute || c->absolute)
    return mc_refuse(build);
  if (!carries && !added && !mc_has(build, "X") && (is_nothing(b) || is_nothing(c)))
    return add(build, OP_IADD, a, is_nothing(c) ? b : c);
  inst.lop = mc_has(build, "X");
  inst.dst = mc_destination(build, mc_at(build, 0), 1);
  inst.a = mc_value(build, a);
  inst.b = mc_value(build, b);
  inst.c = mc_value(build, c);
  inst.flags |= negation(a, INST_NEG_A) | negation(b, INST_NEG_B) | negation(c, INST_NEG_C);
  if (carries > 0)
    inst.pdst = mc_predicate_out(mc_at(build, 1));
  if (carries > 1)
    inst.pdst2 = mc_predicate_out(mc_at(build, 2));
  if (carries || added || inst.lop) {
    mc_predicate_in(&inst, 0, added > 0 ? mc_at(build, at + 3) : NULL);
    mc_predicate_in(&inst, 1, added > 1 ? mc_at(build, at + 4) : NULL);
  }
  mc_emit(build, &inst);
  return true;
}

/* ---- products ---- */

/* Two words with their sign. */
static int16_t signed_pair(McBuild *build, const McOperand *operand) {
  int16_t row = mc_pair(build, operand);
  if (!operand->minus)
    return row;
  Inst inst = mc_blank(build, OP_ISUB64);
  inst.wide = WIDE_DST | WIDE_A | WIDE_B;
  inst.a = mc_constant_pair(build, 0);
  inst.b = row;
  inst.dst = mc_scratch(build, 2);
  mc_emit(build, &inst);
  return inst.dst;
}

static bool multiply_wide(McBuild *build, guint at, bool carry_out, bool carry_in) {
  const McOperand *a = mc_at(build, at), *b = mc_at(build, at + 1), *c = mc_at(build, at + 2);
  if (c->inverted || c->absolute || (c->minus && (carry_out || carry_in)))
    return mc_refuse(build);
  int16_t added = signed_pair(build, c);
  Inst inst = mc_blank(build, carry_out || carry_in ? OP_IMADWX : OP_IMADW);
  inst.type = (uint8_t)int_type(build);
  inst.wide = WIDE_DST | WIDE_C;
  inst.a = mc_signed_value(build, a);
  inst.b = mc_signed_value(build, b);
  inst.c = added;
  inst.dst = mc_destination(build, mc_at(build, 0), 2);
  if (carry_out)
    inst.pdst = mc_predicate_out(mc_at(build, 1));
  if (carry_out || carry_in)
    mc_predicate_in(&inst, 0, carry_in ? mc_at(build, at + 3) : NULL);
  mc_emit(build, &inst);
  return true;
}

static bool is_one(const McOperand *operand) { return operand->kind == MC_INTEGER && operand->value == 1; }

/* The high word of a * b + c, where c is two words, and its carry. */
static bool multiply_high(McBuild *build, guint at, bool carry_out) {
  const McOperand *a = mc_at(build, at), *b = mc_at(build, at + 1), *c = mc_at(build, at + 2);
  Inst inst = mc_blank(build, carry_out ? OP_IMADWX : OP_IMADW);
  if (c->minus || c->inverted)
    return mc_refuse(build);
  if (carry_out) {
    inst.pdst = mc_predicate_out(mc_at(build, 1));
    mc_predicate_in(&inst, 0, NULL);
  }
  inst.type = (uint8_t)int_type(build);
  inst.wide = WIDE_DST | WIDE_C;
  inst.a = mc_signed_value(build, a);
  inst.b = mc_signed_value(build, b);
  inst.c = mc_pair(build, c);
  inst.dst = mc_scratch(build, 2);
  mc_emit(build, &inst);
  return move(build, mc_at(build, 0), (int16_t)(inst.dst + 1));
}

bool mc_imad(McBuild *build) {
  guint carries = predicates_from(build, 1), at = 1 + carries;
  const McOperand *a = mc_at(build, at), *b = mc_at(build, at + 1), *c = mc_at(build, at + 2);
  bool takes = mc_is_predicate(mc_at(build, at + 3)) && at + 3 < mc_count(build);
  if (!mc_only(build, "MOV", "SHL", "IADD", "U32", "S32", "HI", "X", "WIDE", NULL) || a->inverted || b->inverted)
    return mc_refuse(build);
  if (mc_has(build, "WIDE"))
    return multiply_wide(build, at, carries > 0, takes);
  if (!carries && !takes && !mc_has(build, "HI") && is_nothing(a) && is_nothing(b) && !c->inverted)
    return move(build, mc_at(build, 0), mc_signed_value(build, c));
  if (!carries && !takes && !mc_has(build, "HI") && is_one(b) && !c->inverted)
    return add(build, OP_IADD, a, c);
  if (!takes && mc_has(build, "HI") && (carries || !is_nothing(c)))
    return multiply_high(build, at, carries > 0);
  bool plain = !carries && !takes && !mc_has(build, "X");
  Inst inst = mc_blank(build, plain ? OP_IMAD : OP_IMADX);
  inst.type = (uint8_t)int_type(build);
  inst.flags |= mc_has(build, "HI") ? INST_HI : 0;
  inst.flags |= negation(a, INST_NEG_A) | negation(b, INST_NEG_B) | negation(c, INST_NEG_C);
  inst.a = mc_value(build, a);
  inst.b = mc_value(build, b);
  inst.c = mc_value(build, c);
  inst.dst = mc_destination(build, mc_at(build, 0), 1);
  if (carries)
    inst.pdst = mc_predicate_out(mc_at(build, 1));
  if (!plain)
    mc_predicate_in(&inst, 0, takes ? mc_at(build, at + 3) : NULL);
  mc_emit(build, &inst);
  return true;
}

bool mc_lea(McBuild *build) {
  guint carries = predicates_from(build, 1), at = 1 + carries;
  bool high = mc_has(build, "HI"), extends = mc_has(build, "SX32");
  if (!mc_only(build, "HI", "X", "SX32", NULL))
    return mc_refuse(build);
  guint values = high && !extends ? 4 : 3;
  const McOperand *a = mc_at(build, at), *b = mc_at(build, at + 1), *shift = mc_at(build, at + values - 1);
  bool takes = at + values < mc_count(build);
  if (shift->kind != MC_INTEGER || a->inverted)
    return mc_refuse(build);
  int16_t added = b->inverted ? mc_signed_value(build, b) : mc_value(build, b);
  Inst inst = mc_blank(build, OP_LEA);
  inst.type = extends ? TYPE_S32 : TYPE_U32;
  inst.mode = (uint8_t)(shift->value & 31);
  inst.flags |= (high ? INST_HI : 0) | negation(a, INST_NEG_A) | (b->minus ? INST_NEG_B : 0);
  inst.a = mc_value(build, a);
  inst.b = added;
  inst.c = values == 4 ? mc_value(build, mc_at(build, at + 2)) : mc_constant(build, 0);
  inst.dst = mc_destination(build, mc_at(build, 0), 1);
  if (carries)
    inst.pdst = mc_predicate_out(mc_at(build, 1));
  mc_predicate_in(&inst, 0, takes ? mc_at(build, at + values) : NULL);
  mc_emit(build, &inst);
  return true;
}

bool mc_iabs(McBuild *build) {
  Inst inst = mc_blank(build, OP_IABS);
  inst.a = mc_signed_value(build, mc_at(build, 1));
  inst.dst = mc_destination(build, mc_at(build, 0), 1);
  mc_emit(build, &inst);
  return true;
}

/* ---- logic and shifts ---- */

static bool logic_op(uint32_t table, LogicOp *op) {
  enum { A_AND_B = 0xc0, A_OR_B = 0xfc, A_XOR_B = 0x3c };
  *op = table == A_AND_B ? LOP_AND : table == A_OR_B ? LOP_OR : LOP_XOR;
  return table == A_AND_B || table == A_OR_B || table == A_XOR_B;
}

bool mc_lop3(McBuild *build) {
  guint predicates = predicates_from(build, 0), at = 1 + predicates;
  const McOperand *table = mc_at(build, at + 3);
  LogicOp op;
  if (!mc_only(build, "LUT", "PAND", NULL) || table->kind != MC_INTEGER)
    return mc_refuse(build);
  bool plain = !predicates && is_nothing(mc_at(build, at + 2)) && logic_op((uint32_t)table->value, &op);
  Inst inst = mc_blank(build, plain ? OP_LOP : OP_LOP3);
  inst.lop = (uint8_t)(plain ? op : mc_has(build, "PAND") ? LOP_AND : LOP_OR);
  inst.mode = plain ? 0 : (uint8_t)table->value;
  inst.a = mc_signed_value(build, mc_at(build, at));
  inst.b = mc_signed_value(build, mc_at(build, at + 1));
  inst.c = plain ? 0 : mc_signed_value(build, mc_at(build, at + 2));
  inst.dst = mc_destination(build, mc_at(build, predicates), 1);
  if (predicates)
    inst.pdst = mc_predicate_out(mc_at(build, 0));
  if (!plain)
    mc_predicate_in(&inst, 0, at + 4 < mc_count(build) ? mc_at(build, at + 4) : NULL);
  mc_emit(build, &inst);
  return true;
}

/* An operand of PLOP3: a predicate, or R17.SIGN, whether the register is negative. */
static void logic_input(McBuild *build, Inst *inst, unsigned index, const McOperand *operand) {
  if (operand->kind != MC_REGISTER) {
    mc_predicate_in(inst, index, operand);
    return;
  }
  McOperand whole = *operand;
  whole.part = MC_ALL;
  Inst compare = mc_blank(build, OP_ISETP);
  compare.type = TYPE_S32;
  compare.cmp = CMP_LT;
  compare.a = mc_value(build, &whole);
  compare.b = mc_constant(build, 0);
  inst->psrc[index] = compare.pdst = mc_scratch_predicate(build);
  mc_emit(build, &compare);
}

bool mc_plop3(McBuild *build) {
  const McOperand *table = mc_at(build, 5), *other = mc_at(build, 6);
  if (table->kind != MC_INTEGER || other->kind != MC_INTEGER)
    return mc_refuse(build);
  Inst inst = mc_blank(build, OP_PLOP3);
  inst.pdst = mc_predicate_out(mc_at(build, 0));
  inst.pdst2 = mc_predicate_out(mc_at(build, 1));
  for (unsigned i = 0; i < 3; i++)
    logic_input(build, &inst, i, mc_at(build, 2 + i));
  inst.mode = (uint8_t)table->value;
  inst.imm = (int32_t)(other->value & 0xff);
  mc_emit(build, &inst);
  return true;
}

bool mc_shf(McBuild *build) {
  bool left = mc_has(build, "L"), high = mc_has(build, "HI"), wraps = mc_has(build, "W");
  const McOperand *a = mc_at(build, 1), *c = mc_at(build, 3);
  DataType type = mc_has(build, "S32")   ? TYPE_S32
                  : mc_has(build, "U64") ? TYPE_U64
                  : mc_has(build, "S64") ? TYPE_S64
                                         : TYPE_U32;
  if (!mc_only(build, "L", "R", "HI", "W", "U32", "S32", "U64", "S64", NULL))
    return mc_refuse(build);
  bool word = !wraps && (type == TYPE_U32 || type == TYPE_S32);
  bool shl = word && left && !high, shr = word && !left && high && is_nothing(a);
  Inst inst = mc_blank(build, shl ? OP_SHL : shr ? OP_SHR : OP_SHFX);
  inst.type = (uint8_t)type;
  inst.a = mc_value(build, shr ? c : a);
  inst.b = mc_value(build, mc_at(build, 2));
  if (inst.op == OP_SHFX) {
    inst.c = mc_value(build, c);
    inst.mode = left ? 0 : 1;
    inst.flags |= (high ? INST_HI : 0) | (wraps ? INST_WRAP : 0);
  }
  inst.dst = mc_destination(build, mc_at(build, 0), 1);
  mc_emit(build, &inst);
  return true;
}

static bool two_values(McBuild *build, Opcode op, DataType type) {
  Inst inst = mc_blank(build, op);
  inst.type = (uint8_t)type;
  inst.flags |= mc_has(build, "W") ? INST_WRAP : 0;
  inst.a = mc_signed_value(build, mc_at(build, 1));
  inst.b = mc_signed_value(build, mc_at(build, 2));
  inst.dst = mc_destination(build, mc_at(build, 0), 1);
  mc_emit(build, &inst);
  return true;
}

bool mc_sgxt(McBuild *build) {
  return mc_only(build, "U32", "W", NULL) ? two_values(build, OP_SGXT, int_type(build)) : mc_refuse(build);
}

bool mc_bmsk(McBuild *build) {
  return mc_only(build, "W", "C", NULL) ? two_values(build, OP_BMSK, TYPE_U32) : mc_refuse(build);
}

bool mc_popc(McBuild *build) {
  Inst inst = mc_blank(build, OP_POPC);
  inst.a = mc_signed_value(build, mc_at(build, 1));
  inst.b = mc_constant(build, UINT32_MAX);
  inst.dst = mc_destination(build, mc_at(build, 0), 1);
  mc_emit(build, &inst);
  return true;
}

static bool one_value(McBuild *build, Opcode op) {
  Inst inst = mc_blank(build, op);
  inst.type = (uint8_t)int_type(build);
  inst.flags |= mc_has(build, "SH") ? INST_SH : 0;
  inst.a = mc_signed_value(build, mc_at(build, 1));
  inst.dst = mc_destination(build, mc_at(build, 0), 1);
  mc_emit(build, &inst);
  return true;
}

bool mc_flo(McBuild *build) {
  return mc_only(build, "U32", "SH", NULL) ? one_value(build, OP_FLO) : mc_refuse(build);
}

bool mc_brev(McBuild *build) { return one_value(build, OP_BREV); }

bool mc_prmt(McBuild *build) {
  static const char *const names[] = {
      [PRMT_F4E] = "F4E", [PRMT_B4E] = "B4E", [PRMT_RC8] = "RC8",
      [PRMT_ECL] = "ECL", [PRMT_ECR] = "ECR", [PRMT_RC16] = "RC16",
  };
  Inst inst = mc_blank(build, OP_PRMT);
  for (unsigned i = PRMT_F4E; i < G_N_ELEMENTS(names); i++)
    inst.mode = mc_has(build, names[i]) ? (uint8_t)i : inst.mode;
  inst.a = mc_value(build, mc_at(build, 1));
  inst.b = mc_value(build, mc_at(build, 3));
  inst.c = mc_value(build, mc_at(build, 2));
  inst.dst = mc_destination(build, mc_at(build, 0), 1);
  mc_emit(build, &inst);
  return true;
}

/* ---- comparisons and choices ---- */

static int comparison(const McBuild *build) {
  static const char *const names[] = {"F", "LT", "EQ", "LE", "GT", "NE", "GE", "T"};
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    if (mc_has(build, names[i]))
      return (int)(CMP_F + i);
  return -1;
}

bool mc_isetp(McBuild *build) {
  bool extended = mc_has(build, "EX");
  int cmp = comparison(build);
  if (cmp < 0 || mc_count(build) < (extended ? 6 : 5))
    return mc_refuse(build);
  Inst inst = mc_blank(build, extended ? OP_ISETPX : OP_ISETP);
  inst.cmp = (uint8_t)cmp;
  inst.lop = mc_has(build, "OR") ? LOP_OR : mc_has(build, "XOR") ? LOP_XOR : LOP_AND;
  inst.type = (uint8_t)int_type(build);
  inst.pdst = mc_predicate_out(mc_at(build, 0));
  inst.pdst2 = mc_predicate_out(mc_at(build, 1));
  inst.a = mc_signed_value(build, mc_at(build, 2));
  inst.b = mc_signed_value(build, mc_at(build, 3));
  mc_predicate_in(&inst, 0, mc_at(build, 4));
  if (extended)
    mc_predicate_in(&inst, 1, mc_at(build, 5));
  mc_emit(build, &inst);
  return true;
}

static void choose(McBuild *build, int16_t dst, int16_t a, int16_t b, const McOperand *predicate) {
  Inst inst = mc_blank(build, OP_SEL);
  inst.type = (uint8_t)int_type(build);
  inst.a = a;
  inst.b = b;
  inst.dst = dst;
  mc_predicate_in(&inst, 0, predicate);
  mc_emit(build, &inst);
}

bool mc_sel(McBuild *build) {
  int16_t a = mc_signed_value(build, mc_at(build, 1)), b = mc_signed_value(build, mc_at(build, 2));
  choose(build, mc_destination(build, mc_at(build, 0), 1), a, b, mc_at(build, 3));
  return true;
}

/* ---- predicates as bits ---- */

enum { PREDICATES = 7 };

/* Predicate `number` of PR or UPR. */
static McOperand predicate_of(const McOperand *all, unsigned number) {
  bool uniform = all->kind == MC_PREDICATES_UNIFORM;
  return (McOperand){.kind = uniform ? MC_UNIFORM_PREDICATE : MC_PREDICATE, .number = (int16_t)number};
}

static bool is_all(const McOperand *operand) {
  return operand->kind == MC_PREDICATES || operand->kind == MC_PREDICATES_UNIFORM;
}

/* R2P PR, R0.B1, 0x7f; UR2UP UPR, UR62.B3, which has no mask. */
bool mc_r2p(McBuild *build) {
  McOperand from = *mc_at(build, 1);
  const McOperand *all = mc_at(build, 0), *mask = mc_at(build, 2);
  unsigned shift = from.part >= MC_B0 && from.part <= MC_B3 ? 8u * (from.part - MC_B0) : 0;
  uint64_t which = mask->kind == MC_INTEGER ? mask->value : UINT64_MAX;
  if (!is_all(all) || (mask->kind != MC_INTEGER && mc_count(build) > 2) || !mc_is_register(&from))
    return mc_refuse(build);
  from.part = MC_ALL;
  int16_t row = mc_value(build, &from);
  for (unsigned i = 0; i < PREDICATES; i++) {
    Inst inst = mc_blank(build, OP_LOP3);
    if (!(which >> i & 1))
      continue;
    McOperand predicate = predicate_of(all, i);
    inst.mode = 0xc0;
    inst.lop = LOP_OR;
    inst.a = row;
    inst.b = mc_constant(build, 1u << (i + shift));
    inst.c = mc_constant(build, 0);
    inst.dst = MC_ROW_SINK;
    inst.pdst = mc_predicate_out(&predicate);
    mc_predicate_in(&inst, 0, NULL);
    mc_emit(build, &inst);
  }
  if (build->insts->len == build->first) {
    Inst nothing = mc_blank(build, OP_NOP);
    mc_emit(build, &nothing);
  }
  return true;
}

/* P2R R0, PR, R1, 0x7f; UP2UR.B3 UR62, UPR, UR62, 0xff: into the bits of one byte. */
bool mc_p2r(McBuild *build) {
  static const char *const bytes[] = {"B0", "B1", "B2", "B3"};
  const McOperand *all = mc_at(build, 1), *mask = mc_at(build, 3);
  unsigned shift = 0;
  for (unsigned i = 0; i < G_N_ELEMENTS(bytes); i++)
    shift = mc_has(build, bytes[i]) ? 8 * i : shift;
  if (!is_all(all) || mask->kind != MC_INTEGER || !mc_only(build, "B0", "B1", "B2", "B3", NULL))
    return mc_refuse(build);
  Inst keep = mc_blank(build, OP_LOP);
  keep.lop = LOP_AND;
  keep.a = mc_value(build, mc_at(build, 2));
  keep.b = mc_constant(build, ~((uint32_t)mask->value << shift));
  keep.dst = mc_scratch(build, 1);
  mc_emit(build, &keep);
  int16_t bit = mc_scratch(build, 1);
  for (unsigned i = 0; i < PREDICATES; i++) {
    if (!(mask->value >> i & 1))
      continue;
    McOperand predicate = predicate_of(all, i);
    choose(build, bit, mc_constant(build, 1u << (i + shift)), mc_constant(build, 0), &predicate);
    Inst join = mc_blank(build, OP_LOP);
    join.lop = LOP_OR;
    join.a = keep.dst;
    join.b = bit;
    join.dst = keep.dst;
    mc_emit(build, &join);
  }
  return move(build, mc_at(build, 0), keep.dst);
}
