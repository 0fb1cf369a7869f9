/* Lowering of copies in bulk (UBLKCP, UBLKRED: PTX cp.async.bulk) and of what waits for them. */
#include <string.h>

#include "isa/mc/mc_build.h"

/* The uniform registers that an operand such as [UR8] starts with, so many of them. */
static int16_t registers_of(McBuild *build, const McOperand *memory, unsigned words) {
  McOperand uniform = {.kind = MC_UNIFORM, .number = (int16_t)memory->uniform, .base = MC_NO_REGISTER};
  if (memory->kind != MC_MEMORY || memory->uniform == MC_NO_REGISTER || memory->base != MC_NO_REGISTER ||
      memory->offset) {
    mc_refuse(build);
    return MC_BAD;
  }
  return words == 2 ? mc_pair(build, &uniform) : mc_value(build, &uniform);
}

/* The low half of the last operand counts 16 bytes; the high one says which blocks of a cluster get them. */
static int16_t bytes_of(McBuild *build, const McOperand *operand) {
  Inst field = mc_blank(build, OP_BFE), shift = mc_blank(build, OP_SHL);
  field.type = TYPE_U32;
  field.a = mc_value(build, operand);
  field.b = mc_constant(build, 16 << 8);
  field.dst = mc_scratch(build, 1);
  mc_emit(build, &field);
  shift.type = TYPE_U32;
  shift.a = field.dst;
  shift.b = mc_constant(build, 4);
  shift.dst = mc_scratch(build, 1);
  mc_emit(build, &shift);
  return shift.dst;
}

static bool copy(McBuild *build, Inst *inst, bool in) {
  const McOperand *to = mc_at(build, 0), *from = mc_at(build, 1);
  if (mc_count(build) < 3 || mc_at(build, 2)->kind != MC_UNIFORM)
    return mc_refuse(build);
  inst->c = bytes_of(build, mc_at(build, 2));
  inst->a = registers_of(build, in ? from : to, 2);
  inst->b = registers_of(build, in ? to : from, in ? 2 : 1);
  inst->wide = WIDE_A | (in ? WIDE_B : 0);
  inst->flags |= INST_ADDR64 | INST_UNIFORM;
  inst->space = MEM_GLOBAL;
  inst->dst = MC_ROW_SINK;
  mc_emit(build, inst);
  return !build->failed;
}

/* UBLKCP.S.G [UR8], [UR6], UR5: to shared memory at UR8, whose barrier is at UR9, from UR6; .G.S the other way. */
bool mc_ublkcp(McBuild *build) {
  bool in = build->inst->modifiers[0] && strcmp(build->inst->modifiers[0], "S") == 0;
  Inst inst = mc_blank(build, in ? OP_BULKLOAD : OP_BULKSTORE);
  const char *other = build->inst->modifiers[0] ? build->inst->modifiers[1] : NULL;
  if (!mc_only(build, "S", "G", NULL) || !other || strcmp(other, in ? "G" : "S") != 0)
    return mc_refuse(build);
  inst.lop = in ? MBARRIER_COMPLETES : 0;
  return copy(build, &inst, in);
}

/* UBLKRED.G.S.ADD.U64 [UR8], [UR4], UR6 */
bool mc_ublkred(McBuild *build) {
  static const char *const ops[] = {"ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR"};
  bool wide = mc_has(build, "U64") || mc_has(build, "S64") || mc_has(build, "F64");
  Inst inst = mc_blank(build, OP_BULKRED);
  const char *const *modifiers = build->inst->modifiers;
  if (!mc_only(build, "G", "S", "ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR", "S32", "U64", "S64", "F32",
               "F64", "RN", NULL) ||
      !modifiers[0] || strcmp(modifiers[0], "G") != 0)
    return mc_refuse(build);
  for (guint i = 0; i < G_N_ELEMENTS(ops); i++)
    inst.mode = mc_has(build, ops[i]) ? (uint8_t)i : inst.mode;
  inst.type = mc_has(build, "F32")   ? TYPE_F32
              : mc_has(build, "F64") ? TYPE_F64
              : mc_has(build, "S64") ? TYPE_S64
              : mc_has(build, "U64") ? TYPE_U64
              : mc_has(build, "S32") ? TYPE_S32
                                     : TYPE_U32;
  inst.width = wide ? WIDTH_64 : WIDTH_32;
  return copy(build, &inst, false);
}

bool mc_utmacmdflush(McBuild *build) {
  Inst inst = mc_blank(build, OP_BULKEND);
  mc_emit(build, &inst);
  return true;
}

/* FENCE.VIEW.ASYNC.S, between accesses and copies in bulk. */
bool mc_fence(McBuild *build) {
  if (!mc_has(build, "VIEW") || !mc_has(build, "ASYNC"))
    return mc_nothing(build);
  Inst inst = mc_blank(build, OP_FENCEVIEW);
  inst.mode = mc_has(build, "G");
  mc_emit(build, &inst);
  return true;
}

/* True if some group that such an instruction ends raises the scoreboard, when its copies come or have been read. */
static bool counts_groups(const McBuild *build, const char *root, int scoreboard) {
  for (guint i = 0; i < build->source->insts; i++) {
    const McInst *inst = mc_inst(build->module, build->source, i);
    McControl control = mc_control(inst);
    if (strcmp(inst->root, root) == 0 &&
        (!inst->encoded || control.write == scoreboard || control.read == scoreboard))
      return true;
  }
  return false;
}

/* A wait until bytes have been written, too, has the L1 forget its lines right behind it, where nothing else that
 * orders stands between: that of ptxas for one without .read has. */
static BulkWaitMode bulk_wait_mode(const McBuild *build) {
  static const char *const others[] = {"BRA", "BSYNC", "BAR", "MEMBAR", "DEPBAR", "WARPSYNC", "CALL", "RET", "EXIT"};
  for (guint i = build->index + 1; i < build->source->insts; i++) {
    const McInst *inst = mc_inst(build->module, build->source, i);
    if (strcmp(inst->root, "CCTL") == 0)
      return BULKWAIT_WRITTEN;
    for (guint k = 0; k < G_N_ELEMENTS(others); k++)
      if (strcmp(inst->root, others[k]) == 0)
        return BULKWAIT_READ;
  }
  return BULKWAIT_READ;
}

static void wait_for(McBuild *build, Opcode op, const McOperand *left) {
  Inst inst = mc_blank(build, op);
  inst.imm = (int32_t)left->value;
  if (op == OP_BULKWAIT)
    inst.mode = bulk_wait_mode(build);
  mc_emit(build, &inst);
}

/* DEPBAR.LE SB0, 0x1 waits for copies. Any other wait stands in its control bits, and in what mc_lower.c adds for
 * it. */
bool mc_depbar(McBuild *build) {
  const McOperand *scoreboard = mc_at(build, 0), *left = mc_at(build, 1);
  if (!mc_has(build, "LE") || scoreboard->kind != MC_SCOREBOARD || left->kind != MC_INTEGER)
    return mc_nothing(build);
  bool copies = counts_groups(build, "LDGDEPBAR", scoreboard->number);
  bool bulk = counts_groups(build, "UTMACMDFLUSH", scoreboard->number);
  if (copies)
    wait_for(build, OP_COPYWAIT, left);
  if (bulk)
    wait_for(build, OP_BULKWAIT, left);
  return copies || bulk || mc_nothing(build);
}

/* STAS [R4.64], R2: st.async, to shared memory at R4, of which the barrier at R5 counts the bytes. */
bool mc_stas(McBuild *build) {
  const McOperand *memory = mc_at(build, 0), *value = mc_at(build, 1);
  unsigned words = mc_has(build, "128") ? 4 : mc_has(build, "64") ? 2 : 1;
  Inst store = mc_blank(build, OP_STS), arrive = mc_blank(build, OP_ATOMS);
  if (!mc_only(build, "64", "128", NULL) || memory->kind != MC_MEMORY || memory->uniform != MC_NO_REGISTER ||
      memory->offset || memory->base == MC_RZ)
    return mc_refuse(build);
  McOperand at = {.kind = MC_REGISTER, .number = (int16_t)memory->base, .base = MC_NO_REGISTER};
  McOperand last = *value;
  last.number = (int16_t)(value->number + (value->number == MC_RZ ? 0 : (int)words - 1));
  mc_value(build, &last); /* all of them are in use */
  int16_t pair = mc_pair(build, &at);
  store.width = words == 4 ? WIDTH_128 : words == 2 ? WIDTH_64 : WIDTH_32;
  store.a = pair;
  store.b = mc_value(build, value);
  mc_reach_cluster(build, &store, OP_ST);
  mc_emit(build, &store);
  arrive.mode = ATOM_ARRIVE;
  arrive.lop = MBARRIER_COMPLETES;
  arrive.type = TYPE_U64;
  arrive.width = WIDTH_64;
  arrive.wide = WIDE_DST | WIDE_B;
  arrive.sem = SEM_RELAXED;
  arrive.scope = SCOPE_GPU;
  arrive.a = (int16_t)(pair + 1);
  arrive.b = mc_constant_pair(build, 4 * words);
  arrive.dst = MC_ROW_SINK;
  mc_reach_cluster(build, &arrive, OP_RED);
  mc_emit(build, &arrive);
  return true;
}
