/* Lowering of what lanes of a warp do together. Who takes part are the lanes that execute. */
#include "isa/mc/mc_build.h"

bool mc_vote(McBuild *build) {
  guint at = mc_is_register(mc_at(build, 0)) ? 1 : 0;
  if (!mc_only(build, "ANY", "ALL", "EQ", NULL) || mc_count(build) != at + 2)
    return mc_refuse(build);
  Inst inst = mc_blank(build, OP_VOTE);
  inst.mode = mc_has(build, "ANY") ? VOTE_ANY : mc_has(build, "ALL") ? VOTE_ALL : VOTE_EQ;
  inst.dst = at ? mc_destination(build, mc_at(build, 0), 1) : MC_ROW_SINK;
  inst.pdst = mc_predicate_out(mc_at(build, at));
  mc_predicate_in(&inst, 0, mc_at(build, at + 1));
  mc_emit(build, &inst);
  return true;
}

int16_t mc_guard_path(McBuild *build) {
  if (build->guard == PRED_TRUE && !build->guard_not)
    return mc_constant(build, UINT32_MAX);
  Inst vote = mc_blank(build, OP_VOTE);
  vote.guard = PRED_TRUE;
  vote.flags = 0;
  vote.mode = VOTE_ANY;
  vote.psrc[0] = build->guard;
  vote.psrc_not = build->guard_not ? 1 : 0;
  vote.dst = mc_scratch(build, 1);
  vote.pdst = build->guard = mc_scratch_predicate(build);
  build->guard_not = false;
  mc_emit(build, &vote);
  return vote.dst;
}

bool mc_match(McBuild *build) {
  guint at = mc_is_predicate(mc_at(build, 0)) ? 1 : 0;
  bool wide = mc_has(build, "U64");
  if (!mc_only(build, "ANY", "ALL", "U64", NULL))
    return mc_refuse(build);
  Inst inst = mc_blank(build, OP_MATCH);
  inst.mode = mc_has(build, "ALL") ? MATCH_ALL : MATCH_ANY;
  inst.wide = wide ? WIDE_A : 0;
  inst.a = wide ? mc_pair(build, mc_at(build, at + 1)) : mc_value(build, mc_at(build, at + 1));
  inst.b = mc_constant(build, UINT32_MAX);
  inst.dst = mc_destination(build, mc_at(build, at), 1);
  inst.pdst = at ? mc_predicate_out(mc_at(build, 0)) : PRED_SINK;
  mc_emit(build, &inst);
  return true;
}

bool mc_shfl(McBuild *build) {
  if (!mc_only(build, "UP", "DOWN", "BFLY", "IDX", NULL) || mc_count(build) != 5)
    return mc_refuse(build);
  Inst inst = mc_blank(build, OP_SHFL);
  inst.mode = mc_has(build, "UP")     ? SHFL_UP
              : mc_has(build, "DOWN") ? SHFL_DOWN
              : mc_has(build, "BFLY") ? SHFL_BFLY
                                      : SHFL_IDX;
  inst.a = mc_value(build, mc_at(build, 2));
  inst.b = mc_value(build, mc_at(build, 3));
  inst.c = mc_value(build, mc_at(build, 4));
  inst.dst = mc_destination(build, mc_at(build, 1), 1);
  inst.pdst = mc_predicate_out(mc_at(build, 0));
  mc_emit(build, &inst);
  return true;
}

/* Without an operation it is an AND. */
bool mc_redux(McBuild *build) {
  if (!mc_only(build, "SUM", "MIN", "MAX", "AND", "OR", "XOR", "S32", NULL))
    return mc_refuse(build);
  Inst inst = mc_blank(build, OP_REDUX);
  inst.mode = mc_has(build, "SUM")   ? ATOM_ADD
              : mc_has(build, "MIN") ? ATOM_MIN
              : mc_has(build, "MAX") ? ATOM_MAX
              : mc_has(build, "OR")  ? ATOM_OR
              : mc_has(build, "XOR") ? ATOM_XOR
                                     : ATOM_AND;
  inst.type = mc_has(build, "S32") ? TYPE_S32 : TYPE_U32;
  inst.a = mc_value(build, mc_at(build, 1));
  inst.b = mc_constant(build, UINT32_MAX);
  inst.dst = mc_destination(build, mc_at(build, 0), 1);
  mc_emit(build, &inst);
  return true;
}

/* One lane of those that execute, the lowest; its number isn't asked for. */
bool mc_elect(McBuild *build) {
  const McOperand *lane = mc_at(build, 1), *who = mc_at(build, 2);
  if (mc_count(build) != 3 || !mc_only(build, "IGNOREKILL", NULL) || who->number != MC_PT || who->negated)
    return mc_refuse(build);
  Inst inst = mc_blank(build, OP_ELECT);
  inst.a = mc_constant(build, UINT32_MAX);
  inst.dst = mc_destination(build, lane, 1);
  inst.pdst = mc_predicate_out(mc_at(build, 0));
  mc_emit(build, &inst);
  return true;
}

/* There are registers enough: what a warp gives back nobody lacks, and who asks for more has them at once. */
bool mc_usetmaxreg(McBuild *build) {
  enum { ALWAYS = 0xff };
  bool asks = mc_has(build, "TRY_ALLOC");
  Inst inst = mc_blank(build, asks ? OP_PLOP3 : OP_NOP);
  if (!mc_only(build, "DEALLOC", "TRY_ALLOC", "CTAPOOL", NULL) || mc_count(build) != (asks ? 2 : 1))
    return mc_refuse(build);
  if (asks) {
    inst.mode = ALWAYS;
    inst.pdst = mc_predicate_out(mc_at(build, 0));
  }
  mc_emit(build, &inst);
  return true;
}

/* The value of the lowest executing lane, and which lanes have another one: loops over the lanes' values go on with
 * those. */
bool mc_r2ur(McBuild *build) {
  guint at = mc_is_predicate(mc_at(build, 0)) ? 1 : 0;
  int16_t value = mc_value(build, mc_at(build, at + 1)), lanes = mc_guard_path(build);
  Inst elect = mc_blank(build, OP_ELECT), take = mc_blank(build, OP_SHFL);
  elect.a = lanes;
  elect.dst = mc_scratch(build, 1);
  take.mode = SHFL_IDX;
  take.a = value;
  take.b = elect.dst;
  take.c = mc_constant(build, 31);
  take.dst = at ? mc_scratch(build, 1) : mc_destination(build, mc_at(build, 0), 1);
  mc_emit(build, &elect);
  mc_emit(build, &take);
  if (!at)
    return true;
  Inst others = mc_blank(build, OP_ISETP), move = mc_blank(build, OP_MOV);
  others.type = TYPE_U32;
  others.cmp = CMP_NE;
  others.a = value;
  others.b = take.dst;
  others.pdst = mc_predicate_out(mc_at(build, 0));
  if (mc_has(build, "OR")) { /* the other half of a wide value: whether either differs */
    others.lop = LOP_OR;
    mc_predicate_in(&others, 0, mc_at(build, 0));
  }
  move.a = take.dst;
  move.dst = mc_destination(build, mc_at(build, 1), 1);
  mc_emit(build, &others);
  mc_emit(build, &move);
  return true;
}
