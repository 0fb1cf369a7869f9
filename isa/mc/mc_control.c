/* Lowering of control flow, convergence and block barriers. While a kernel is built a target is a byte address. */
#include <string.h>

#include "isa/mc/mc_build.h"

static bool jump(McBuild *build, Inst *inst, const McOperand *target) {
  if (target->kind != MC_TARGET && target->kind != MC_INTEGER)
    return mc_refuse(build);
  inst->target = (int32_t)target->value;
  mc_emit(build, inst);
  return true;
}

/* The guard and a second predicate: a lane goes if both hold. */
static void guard_also(McBuild *build, Inst *inst, const McOperand *predicate) {
  bool unguarded = inst->guard == PRED_TRUE && !build->guard_not;
  if (predicate->number == MC_PT && !predicate->negated)
    return;
  if (unguarded && predicate->number != MC_PT) {
    inst->guard = mc_predicate_out(predicate);
    inst->flags = (inst->flags & ~(uint32_t)INST_GUARD_NOT) | (predicate->negated ? INST_GUARD_NOT : 0);
    return;
  }
  enum { A_AND_B = 0xc0 };
  Inst both = mc_blank(build, OP_PLOP3);
  both.guard = PRED_TRUE;
  both.flags = 0;
  both.mode = A_AND_B;
  both.psrc[0] = build->guard;
  both.psrc_not = build->guard_not ? 1 : 0;
  mc_predicate_in(&both, 1, predicate);
  both.pdst = mc_scratch_predicate(build);
  mc_emit(build, &both);
  inst->guard = both.pdst;
  inst->flags &= ~(uint32_t)INST_GUARD_NOT;
}

/* BRA.DIV UR4, t; BRA.CONV ~URZ, t; without a mask it is of all lanes. Under a guard, too, all lanes of the path go
 * one way: those whose guard is false count as missing. ptxas guards it so that lanes with different masks go to the code
 * that treats one mask after the other. */
static bool branch_by_mask(McBuild *build, BranchDivMode mode) {
  bool masked = mc_count(build) > 1;
  int16_t mask = masked ? mc_signed_value(build, mc_at(build, 0)) : mc_constant(build, UINT32_MAX);
  int16_t here = mc_guard_path(build);
  Inst inst = mc_blank(build, OP_BRADIV);
  inst.mode = (uint8_t)mode;
  inst.a = mask;
  inst.b = here;
  return jump(build, &inst, mc_at(build, masked ? 1 : 0));
}

bool mc_bra(McBuild *build) {
  if (!mc_only(build, "DIV", "CONV", "U", "ANY", NULL))
    return mc_refuse(build);
  if (mc_has(build, "ANY")) /* all lanes of the path go if one does */
    mc_guard_path(build);
  if (mc_has(build, "DIV") || mc_has(build, "CONV"))
    return branch_by_mask(build, mc_has(build, "DIV") ? BRANCH_DIVERGED : BRANCH_CONVERGED);
  bool second = mc_count(build) == 2 && mc_is_predicate(mc_at(build, 0));
  Inst inst = mc_blank(build, OP_BRA);
  inst.flags |= mc_has(build, "U") ? INST_UNIFORM : 0;
  if (second)
    guard_also(build, &inst, mc_at(build, 0));
  return jump(build, &inst, mc_at(build, second ? 1 : 0));
}

/* To register + number; BRX: relative to the next instruction. */
static bool jump_by_register(McBuild *build, uint32_t base) {
  const McOperand *reg = mc_at(build, 0), *offset = mc_at(build, 1);
  Inst inst = mc_blank(build, OP_BRX);
  if (!mc_is_register(reg) || (mc_count(build) > 1 && offset->kind != MC_INTEGER && offset->kind != MC_TARGET))
    return mc_refuse(build);
  inst.a = mc_value(build, reg);
  inst.mode = reg->kind == MC_UNIFORM ? JUMP_OF_WARP : JUMP_OF_LANES;
  inst.imm = (int32_t)(base + (mc_count(build) > 1 ? (uint32_t)offset->value : 0));
  mc_emit(build, &inst);
  return true;
}

static void add_jump(McBuild *build, uint32_t address) { g_array_append_val(build->jumps, address); }

static void add_jump_anywhere(McBuild *build) {
  for (guint i = 0; i < build->source->insts; i++)
    add_jump(build, mc_inst(build->module, build->source, i)->address);
}

bool mc_brx(McBuild *build) {
  const GArray *targets = build->source->targets;
  for (guint i = 0; targets && i < targets->len; i++)
    add_jump(build, g_array_index(targets, uint32_t, i));
  if (!targets) /* any place that a branch could go to */
    add_jump_anywhere(build);
  const McOperand *offset = mc_at(build, 1);
  return jump_by_register(build, offset->kind == MC_TARGET ? 0 : build->inst->address + MC_INST_BYTES);
}

/* The copy of a function for one call knows its place. */
bool mc_ret(McBuild *build) {
  if (!mc_only(build, "REL", "ABS", "NODEC", NULL))
    return mc_refuse(build);
  if (mc_at(build, 0)->kind != MC_TARGET)
    return jump_by_register(build, 0);
  Inst inst = mc_blank(build, OP_BRA);
  return jump(build, &inst, mc_at(build, 0));
}

/* ---- calls ---- */

/* The address of the function that the instruction is of, and 0 in the kernel's own code. */
static uint32_t start_of_function(const McBuild *build) {
  const GArray *starts = build->source->starts;
  uint32_t start = 0;
  for (guint i = 0; starts && i < starts->len && g_array_index(starts, uint32_t, i) <= build->inst->address; i++)
    start = g_array_index(starts, uint32_t, i);
  return start;
}

/* The instruction before `index` in the same function, or NULL. */
static const McInst *inst_before(const McBuild *build, guint index, uint32_t start) {
  const McInst *inst = index ? mc_inst(build->module, build->source, index - 1) : NULL;
  return inst && inst->address >= start ? inst : NULL;
}

static bool is_move(const McBuild *build, const McInst *inst) {
  if (strcmp(inst->root, "MOV") == 0)
    return true;
  const McOperand *first = strcmp(inst->name, "IMAD.MOV.U32") == 0 ? mc_operand(build->module, inst, 1) : NULL;
  return first && first->kind == MC_REGISTER && first->number == MC_RZ;
}

/* The newest instruction before *index in the same function that gives `reg` its value; through moves, which without
 * optimization are many, from one register to the next. NULL if there is none. *index is its own then. */
static const McInst *giver_of(const McBuild *build, int reg, guint *index) {
  uint32_t start = start_of_function(build);
  const McInst *inst;
  for (; (inst = inst_before(build, *index, start)); --*index) {
    const McOperand *to = inst->operands ? mc_operand(build->module, inst, 0) : NULL;
    if (!to || to->kind != MC_REGISTER || to->number != reg)
      continue;
    const McOperand *from = mc_operand(build->module, inst, inst->operands - 1);
    if (!is_move(build, inst) || from->kind != MC_REGISTER || from->number == MC_RZ) {
      --*index;
      return inst;
    }
    reg = from->number;
  }
  return NULL;
}

/* The number that `reg` has before instruction `index`, if a move of a constant gives it. */
static bool known_number(const McBuild *build, guint index, int reg, uint64_t *value) {
  const McInst *inst = giver_of(build, reg, &index);
  if (!inst || (!is_move(build, inst) && strcmp(inst->root, "HFMA2") != 0))
    return false;
  const McOperand *from = mc_operand(build->module, inst, inst->operands - 1);
  if (from->kind == MC_REGISTER && from->number == MC_RZ)
    *value = 0;
  else if (from->kind == MC_INTEGER || from->kind == MC_REAL)
    *value = from->kind == MC_INTEGER ? from->value : 0;
  else
    return false;
  if (strcmp(inst->root, "HFMA2") == 0) { /* two halves: 0, and a small number's bits */
    double low = from->kind == MC_REAL ? from->real : (double)(int64_t)from->value;
    *value = (uint64_t)(low * 16777216.0 + 0.5);
  }
  return true;
}

/* The function whose address `reg` has: loaded from bank 4. NULL if it isn't known. */
static const char *called_function(const McBuild *build, int reg) {
  guint index = build->index;
  const McInst *inst = giver_of(build, reg, &index);
  const McOperand *from = inst ? mc_operand(build->module, inst, inst->operands - 1) : NULL;
  const McData *data = mc_find_data(build->module, ".nv.constant4");
  uint64_t number = 0;
  if (from && from->kind == MC_SYMBOL)
    return from->text;
  if (!from || from->kind != MC_CONSTANT || from->bank != 4 || !data || !data->relocs ||
      (from->base != MC_NO_REGISTER && from->base != MC_RZ && !known_number(build, index, from->base, &number)))
    return NULL;
  for (guint r = 0; r < data->relocs->len; r++) {
    const McReloc *reloc = &g_array_index(data->relocs, McReloc, r);
    if (reloc->offset == number + (uint32_t)from->offset)
      return reloc->symbol;
  }
  return NULL;
}

static int16_t argument(McBuild *build, int number, bool wide) {
  McOperand operand = {.kind = MC_REGISTER, .number = (int16_t)number, .base = MC_NO_REGISTER};
  return wide ? mc_pair(build, &operand) : mc_value(build, &operand);
}

/* The ABI: arguments from R4 on, 64-bit ones at even registers; the result in R4. */
enum { FIRST = 4, SECOND = 6, THIRD = 8 };

static bool call_system(McBuild *build, const char *name) {
  McOperand result = {.kind = MC_REGISTER, .number = FIRST, .base = MC_NO_REGISTER};
  bool prints = strcmp(name, "vprintf") == 0, asserts = strcmp(name, "__assertfail") == 0;
  bool takes = strcmp(name, "malloc") == 0, aligned = strcmp(name, "__cuda_syscall_aligned_malloc") == 0;
  bool gives = strcmp(name, "free") == 0;
  if (!prints && !asserts && !takes && !aligned && !gives)
    return mc_refuse(build);
  Inst inst = mc_blank(build, prints ? OP_PRINTF : asserts ? OP_ASSERTFAIL : gives ? OP_FREE : OP_MALLOC);
  inst.a = argument(build, FIRST, true);
  inst.wide = WIDE_A;
  inst.dst = MC_ROW_SINK;
  if (prints || asserts) {
    inst.b = argument(build, SECOND, true);
    inst.wide |= WIDE_B;
  }
  if (asserts)
    inst.c = argument(build, THIRD, false);
  if (takes || aligned)
    inst.b = aligned ? argument(build, SECOND, false) : mc_constant(build, 1);
  if (prints)
    inst.dst = mc_destination(build, &result, 1);
  if (takes || aligned) {
    inst.dst = mc_destination(build, &result, 2);
    inst.wide |= WIDE_DST;
  }
  mc_emit(build, &inst);
  return true;
}

/* Functions whose address is taken stand in the kernel itself; a pointer to one is an index into bank 2, which has
 * their places. */
static void add_functions(McBuild *build) {
  g_autofree char *section = g_strdup_printf(".nv.constant2.%s", build->source->name);
  const McData *data = mc_find_data(build->module, section);
  uint32_t end = build->source->insts * MC_INST_BYTES;
  if (!data || !data->data) {
    add_jump_anywhere(build);
    return;
  }
  for (uint32_t at = 0; at + 8 <= data->bytes; at += 8) {
    uint64_t place;
    memcpy(&place, data->data + at, sizeof place);
    if (place < end && place % MC_INST_BYTES == 0)
      add_jump(build, (uint32_t)place);
  }
}

static bool begins_function(const McBuild *build, uint32_t address) {
  const GArray *starts = build->source->starts;
  for (guint i = 0; starts && i < starts->len; i++)
    if (g_array_index(starts, uint32_t, i) == address)
      return true;
  return false;
}

/* Functions with a section of their own that the kernel has: a pointer to one is its address. False if there are
 * none. */
static bool add_linked_functions(McBuild *build) {
  bool some = false;
  for (guint i = 0; i < build->module->kernels->len; i++) {
    const McKernel *function = mc_kernel(build->module, i);
    uint32_t at = function->insts && !function->entry ? mc_inst(build->module, function, 0)->address : 0;
    if (at == 0 || !begins_function(build, at))
      continue;
    add_jump(build, at);
    some = true;
  }
  return some;
}

/* By a pointer: of a function of the program, or of one that the system has. */
static bool call_by_register(McBuild *build, const McOperand *target, uint32_t behind) {
  const char *name = called_function(build, target->number);
  const McSymbol *symbol = name ? mc_find_symbol(build->module, name) : NULL;
  if (name)
    return !(symbol && symbol->section) ? call_system(build, name) : mc_refuse(build);
  if (mc_has(build, "REL"))
    add_functions(build);
  else if (!add_linked_functions(build)) /* it may be anywhere in memory */
    return mc_refuse(build);
  add_jump(build, behind);
  build->calls_pointers = true;
  return jump_by_register(build, 0);
}

bool mc_call(McBuild *build) {
  const McOperand *target = mc_at(build, 0);
  uint32_t behind = build->inst->address + MC_INST_BYTES;
  if (!mc_only(build, "REL", "ABS", "NOINC", NULL))
    return mc_refuse(build);
  if (mc_is_register(target))
    return call_by_register(build, target, behind);
  if (target->kind == MC_SYMBOL)
    return call_system(build, target->text);
  if (mc_has(build, "ABS") && target->value == 0) /* a listing of cuobjdump doesn't say whom */
    return mc_refuse(build);
  Inst inst = mc_blank(build, OP_BRA);
  add_jump(build, behind);
  return jump(build, &inst, target);
}

bool mc_exit(McBuild *build) {
  Inst inst = mc_blank(build, OP_EXIT);
  if (mc_count(build) > 1 || (mc_count(build) == 1 && !mc_is_predicate(mc_at(build, 0))))
    return mc_refuse(build);
  if (mc_count(build) == 1)
    guard_also(build, &inst, mc_at(build, 0));
  mc_emit(build, &inst);
  return true;
}

bool mc_bpt(McBuild *build) {
  if (!mc_has(build, "TRAP"))
    return mc_nothing(build);
  Inst inst = mc_blank(build, OP_TRAP);
  mc_emit(build, &inst);
  return true;
}

/* An event of the profiler: what PTX calls pmevent. */
bool mc_pmtrig(McBuild *build) {
  const McOperand *events = mc_at(build, 0);
  for (uint32_t number = 0; events->kind == MC_INTEGER && number < 16; number++)
    if (events->value >> number & 1) {
      Mark mark = {build->insts->len, number};
      build->kernel->marks = g_renew(Mark, build->kernel->marks, build->kernel->nmarks + 1);
      build->kernel->marks[build->kernel->nmarks++] = mark;
    }
  Inst inst = mc_blank(build, OP_NOP);
  inst.flags |= INST_MARKS;
  mc_emit(build, &inst);
  return true;
}

/* ---- convergence ---- */

static const McOperand *barrier_operand(McBuild *build, Inst *inst, guint at) {
  const McOperand *barrier = mc_at(build, at);
  if (barrier->kind != MC_BARRIER) {
    mc_refuse(build);
    return NULL;
  }
  inst->mode = (uint8_t)barrier->number;
  build->kernel->convergence_barriers = MAX(build->kernel->convergence_barriers, (uint32_t)barrier->number + 1);
  return barrier;
}

bool mc_bssy(McBuild *build) {
  Inst inst = mc_blank(build, OP_BSSY);
  return barrier_operand(build, &inst, 0) && jump(build, &inst, mc_at(build, 1));
}

bool mc_bsync(McBuild *build) {
  Inst inst = mc_blank(build, OP_BSYNC);
  if (!barrier_operand(build, &inst, 0))
    return false;
  mc_emit(build, &inst);
  return true;
}

bool mc_break(McBuild *build) {
  bool second = mc_is_predicate(mc_at(build, 0)) && mc_count(build) == 2;
  Inst inst = mc_blank(build, OP_BREAK);
  if (second)
    guard_also(build, &inst, mc_at(build, 0));
  if (!barrier_operand(build, &inst, second ? 1 : 0))
    return false;
  mc_emit(build, &inst);
  return true;
}

/* A register is cleared before each BSSY, which begins a record anyhow. */
bool mc_bmov(McBuild *build) {
  const McOperand *to = mc_at(build, 0), *from = mc_at(build, 1);
  bool writes = to->kind == MC_BARRIER;
  if (!writes && to->kind == MC_REGISTER && to->number == MC_RZ)
    return mc_nothing(build);
  Inst inst = mc_blank(build, writes ? OP_BMOVW : OP_BMOVR);
  if (!barrier_operand(build, &inst, writes ? 0 : 1))
    return false;
  if (writes)
    inst.a = mc_value(build, from);
  else
    inst.dst = mc_destination(build, to, 1);
  mc_emit(build, &inst);
  return true;
}

/* Before sm_90 a collective is EXCLUSIVE and has no place to come back to: it is in a subroutine, and RET leaves
 * it. */
bool mc_warpsync(McBuild *build) {
  if (!mc_only(build, "ALL", "COLLECTIVE", "EXCLUSIVE", NULL))
    return mc_refuse(build);
  bool collective = mc_has(build, "COLLECTIVE"), all = mc_has(build, "ALL");
  int16_t mask = mc_count(build) == 0 || (collective && mc_count(build) == 1) ? mc_constant(build, UINT32_MAX)
                                                                              : mc_value(build, mc_at(build, 0));
  Inst inst = mc_blank(build, OP_WARPSYNC);
  inst.a = mask;
  inst.mode = collective                   ? WARPSYNC_COLLECTIVE
              : all                        ? WARPSYNC_ALL
              : mc_has(build, "EXCLUSIVE") ? WARPSYNC_EXCLUSIVE
                                           : WARPSYNC_ANY;
  if (collective)
    return jump(build, &inst, mc_at(build, mc_count(build) - 1));
  mc_emit(build, &inst);
  return true;
}

bool mc_endcollective(McBuild *build) {
  Inst inst = mc_blank(build, OP_ENDCOLLECTIVE);
  mc_emit(build, &inst);
  return true;
}

bool mc_yield(McBuild *build) {
  Inst inst = mc_blank(build, OP_YIELD);
  mc_emit(build, &inst);
  return true;
}

bool mc_nanosleep(McBuild *build) {
  if (!mc_only(build, "WARP", "SYNCS", NULL))
    return mc_refuse(build);
  int16_t wanted = mc_value(build, mc_at(build, 0));
  Inst inst = mc_blank(build, OP_NANOSLEEP);
  inst.a = wanted;
  mc_emit(build, &inst);
  return true;
}

/* ---- block barriers ---- */

/* A row of the lowest bits of another. */
static int16_t lowest_bits(McBuild *build, int16_t row, unsigned bits) {
  Inst keep = mc_blank(build, OP_LOP);
  keep.lop = LOP_AND;
  keep.a = row;
  keep.b = mc_constant(build, (UINT32_C(1) << bits) - 1);
  keep.dst = mc_scratch(build, 1);
  mc_emit(build, &keep);
  return keep.dst;
}

static int16_t bits_above(McBuild *build, int16_t row, unsigned from) {
  Inst shift = mc_blank(build, OP_SHR);
  shift.type = TYPE_U32;
  shift.a = row;
  shift.b = mc_constant(build, from);
  shift.dst = mc_scratch(build, 1);
  mc_emit(build, &shift);
  return shift.dst;
}

/* An encoding has room for one register: where number and count are in registers it is one that has both. */
static bool is_packed(const McBuild *build) {
  const McOperand *number = mc_at(build, 0), *count = mc_at(build, 1);
  return number->kind == MC_REGISTER && count->kind == MC_REGISTER && number->number == count->number;
}

static void barrier_operands(McBuild *build, Inst *inst, guint values) {
  enum { NUMBER_BITS = 4, COUNT_FROM = 16, COUNT_BITS = 12 };
  inst->a = values > 0 ? mc_value(build, mc_at(build, 0)) : mc_constant(build, 0);
  if (values < 2)
    return;
  inst->b = mc_value(build, mc_at(build, 1));
  inst->flags |= INST_HAS_COUNT;
  inst->lop = 1; /* a count of 0 is that of the block */
  if (is_packed(build)) {
    inst->b = lowest_bits(build, bits_above(build, inst->a, COUNT_FROM), COUNT_BITS);
    inst->a = lowest_bits(build, inst->a, NUMBER_BITS);
  }
}

bool mc_bar(McBuild *build) {
  guint count = mc_count(build);
  bool reduces = mc_has(build, "RED"), has_predicate = count && mc_is_predicate(mc_at(build, count - 1));
  if (!mc_only(build, "SYNC", "ARV", "RED", "POPC", "AND", "OR", "DEFER_BLOCKING", NULL) || reduces != has_predicate)
    return mc_refuse(build);
  guint values = count - (has_predicate ? 1 : 0);
  Inst inst = mc_blank(build, OP_BAR);
  inst.mode = !reduces               ? mc_has(build, "ARV") ? BAR_ARV : BAR_SYNC
              : mc_has(build, "OR")  ? BAR_RED_OR
              : mc_has(build, "AND") ? BAR_RED_AND
                                     : BAR_RED_POPC;
  barrier_operands(build, &inst, values);
  inst.dst = inst.mode == BAR_RED_POPC ? MC_ROW_RESULT : MC_ROW_SINK;
  inst.pdst = inst.mode == BAR_RED_AND || inst.mode == BAR_RED_OR ? MC_RESULT_PREDICATE : PRED_SINK;
  if (reduces)
    mc_predicate_in(&inst, 0, mc_at(build, count - 1));
  build->uses_result |= reduces;
  mc_emit(build, &inst);
  return true;
}

/* The barrier of a cluster. */
static bool meet_cluster(McBuild *build, ClusterBarMode mode) {
  Inst inst = mc_blank(build, OP_CLUSTERBAR);
  inst.mode = (uint8_t)mode;
  inst.flags |= INST_UNALIGNED;
  mc_emit(build, &inst);
  return true;
}

bool mc_cluster_arrive(McBuild *build) {
  return build->kernel->ranked ? meet_cluster(build, CLUSTERBAR_ARRIVE) : mc_nothing(build);
}

/* Of one block: the wait is one for the block's threads, as ptxas has it where it doesn't know how large a cluster is
 * and finds one block. */
bool mc_cluster_wait(McBuild *build) {
  if (build->kernel->ranked)
    return meet_cluster(build, CLUSTERBAR_WAIT);
  Inst inst = mc_blank(build, OP_BAR);
  inst.mode = BAR_SYNC;
  inst.a = mc_constant(build, 0);
  inst.flags |= INST_UNALIGNED;
  inst.dst = MC_ROW_SINK;
  mc_emit(build, &inst);
  return true;
}

/* B2R.RESULT R0; B2R.RESULT RZ, P0: what the last BAR.RED gave. */
bool mc_b2r(McBuild *build) {
  const McOperand *to = mc_at(build, 0);
  if (!mc_only(build, "RESULT", NULL))
    return mc_refuse(build);
  build->uses_result = true;
  if (mc_count(build) > 1) {
    Inst inst = mc_blank(build, OP_PLOP3);
    inst.psrc[0] = MC_RESULT_PREDICATE;
    inst.mode = 0xf0;
    inst.pdst = mc_predicate_out(mc_at(build, 1));
    mc_emit(build, &inst);
  }
  if (to->kind == MC_REGISTER && to->number == MC_RZ && mc_count(build) > 1)
    return true;
  Inst inst = mc_blank(build, OP_MOV);
  inst.a = MC_ROW_RESULT;
  inst.dst = mc_destination(build, to, 1);
  mc_emit(build, &inst);
  return true;
}
