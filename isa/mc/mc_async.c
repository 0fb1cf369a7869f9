/* Lowering of barriers in shared memory (SYNCS: PTX mbarrier). */
#include "isa/mc/mc_build.h"

/* SYNCS.EXCH.64 UR2, [UR4], UR6: the word that ptxas has made of the number of arrivals. */
static bool initialise(McBuild *build) {
  Inst inst = mc_blank(build, OP_ATOMS);
  inst.mode = ATOM_EXCH;
  inst.lop = EXCH_INITS;
  inst.type = TYPE_U64;
  inst.width = WIDTH_64;
  inst.wide = WIDE_DST | WIDE_B;
  inst.sem = SEM_RELAXED;
  inst.scope = SCOPE_GPU;
  if (!mc_only(build, "EXCH", "64", NULL) || !mc_address(build, &inst, mc_at(build, 1), MEM_SHARED))
    return mc_refuse(build);
  inst.b = mc_pair(build, mc_at(build, 2));
  inst.dst = mc_destination(build, mc_at(build, 0), 2);
  mc_emit(build, &inst);
  return true;
}

void mc_reach_cluster(const McBuild *build, Inst *inst, Opcode op) {
  if (!build->kernel->ranked)
    return;
  inst->op = (uint16_t)op;
  inst->space = MEM_GENERIC;
  inst->imm = (int32_t)((uint32_t)inst->imm + SHARED_WINDOW);
}

/* How many arrive, and of how many bytes it is told, 0, 1 or the operand (R): A1T0; without a word it is A1TR. */
static uint8_t arrival(const McBuild *build) {
  return mc_has(build, "A1T0")   ? MBARRIER_ONE
         : mc_has(build, "ART0") ? MBARRIER_COUNT
         : mc_has(build, "A0TR") ? MBARRIER_EXPECTS
         : mc_has(build, "A0T1") ? MBARRIER_EXPECTS
         : mc_has(build, "A0TX") ? MBARRIER_COMPLETES
                                 : MBARRIER_ONE | MBARRIER_EXPECTS;
}

static bool arrive(McBuild *build) {
  Inst move = mc_blank(build, OP_MOV), inst = mc_blank(build, OP_ATOMS);
  if (!mc_only(build, "ARRIVE", "TRANS64", "RED", "OPTOUT", "A1T0", "ART0", "A0TR", "A0T1", "A0TX", NULL))
    return mc_refuse(build);
  move.a = mc_has(build, "A0T1") ? mc_constant(build, 1) : mc_value(build, mc_at(build, 2));
  move.dst = mc_scratch(build, 2);
  mc_emit(build, &move);
  inst.b = move.dst;
  move.a = mc_constant(build, 0);
  move.dst++;
  mc_emit(build, &move);
  inst.mode = ATOM_ARRIVE;
  inst.lop = arrival(build) | (mc_has(build, "OPTOUT") ? MBARRIER_DROPS : 0);
  inst.type = TYPE_U64;
  inst.width = WIDTH_64;
  inst.wide = WIDE_DST | WIDE_B;
  inst.sem = SEM_RELAXED;
  inst.scope = SCOPE_GPU;
  if (!mc_address(build, &inst, mc_at(build, 1), MEM_SHARED))
    return mc_refuse(build);
  if (mc_has(build, "RED"))
    mc_reach_cluster(build, &inst, OP_RED);
  inst.dst = inst.op == OP_RED ? MC_ROW_SINK : mc_destination(build, mc_at(build, 0), 2);
  mc_emit(build, &inst);
  return true;
}

/* PHASECHK: whether the phase isn't that of bit 31 of the operand. A TRYWAIT may sleep for a while first
 * (sim/core/try_wait.h). */
static bool check_phase(McBuild *build) {
  bool tries = mc_has(build, "TRYWAIT");
  Inst load = mc_blank(build, OP_LDS), differ = mc_blank(build, OP_LOP), compare = mc_blank(build, OP_ISETP);
  if (!mc_only(build, "PHASECHK", "TRANS64", "TRYWAIT", NULL) ||
      !mc_address(build, &load, mc_at(build, 1), MEM_SHARED))
    return mc_refuse(build);
  load.imm += 4; /* the high word */
  load.dst = mc_scratch(build, 1);
  load.sem = SEM_RELAXED;
  load.lop = tries ? LDS_TRIES_PHASE : LDS_CHECKS_PHASE;
  mc_emit(build, &load);
  differ.lop = LOP_XOR;
  differ.a = load.dst;
  differ.b = mc_value(build, mc_at(build, 2));
  differ.dst = mc_scratch(build, 1);
  mc_emit(build, &differ);
  compare.mode = tries ? ISETP_OF_TRY : 0;
  compare.cmp = CMP_LT;
  compare.a = differ.dst;
  compare.b = mc_constant(build, 0);
  compare.pdst = mc_predicate_out(mc_at(build, 0));
  mc_emit(build, &compare);
  return true;
}

/* Arrives once the lane's copies have come: on sm_90 as one of those who do, or with a byte that was expected
 * before. */
bool mc_arrives(McBuild *build) {
  Inst inst = mc_blank(build, OP_COPYARRIVE);
  if (!mc_only(build, "LDGSTSBAR", "64", "ARVCNT", "TRANSCNT", NULL) ||
      !mc_address(build, &inst, mc_at(build, 0), MEM_SHARED))
    return mc_refuse(build);
  inst.mode = ATOM_ARRIVE;
  inst.lop = mc_has(build, "ARVCNT")     ? MBARRIER_ONE
             : mc_has(build, "TRANSCNT") ? MBARRIER_COMPLETES
                                         : MBARRIER_BEFORE_HOPPER;
  inst.type = TYPE_U64;
  inst.width = WIDTH_64;
  inst.wide = WIDE_DST | WIDE_B;
  inst.sem = SEM_RELAXED;
  inst.scope = SCOPE_GPU;
  inst.b = mc_constant_pair(build, 1);
  inst.dst = MC_ROW_SINK;
  mc_emit(build, &inst);
  return true;
}

bool mc_syncs(McBuild *build) {
  return mc_has(build, "EXCH")       ? initialise(build)
         : mc_has(build, "ARRIVE")   ? arrive(build)
         : mc_has(build, "PHASECHK") ? check_phase(build)
         : mc_has(build, "CCTL")     ? mc_nothing(build)
                                     : mc_refuse(build);
}
