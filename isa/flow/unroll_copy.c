#include "isa/flow/unroll_copy.h"

#include <string.h>

/* The most that is added to the offset of an access: 24 bits, as instructions have. */
enum { OFFSET_MAX = 1 << 23 };
enum { SAME = -1, OF_ROUND = -2 };

/* A branch from and to new instructions. */
typedef struct Jump {
  uint32_t from, to;
} Jump;

/* An Induction, and its value in the copy that is written where it isn't the register itself. */
typedef struct Stepped {
  Induction of;
  int32_t before, behind; /* registers: before and behind where it is written in a round; or SAME */
} Stepped;

static const VInst *inst_at(const Copier *copier, uint32_t i) {
  return &g_array_index(copier->vkernel->insts, VInst, i);
}

static uint8_t rows_of(const Copier *copier, int32_t reg) {
  return g_array_index(copier->vkernel->rows, uint8_t, reg);
}

void copier_init(Copier *copier, VKernel *vkernel, const Counting *counting) {
  *copier = (Copier){.vkernel = vkernel,
                     .counting = counting,
                     .jumps = g_array_new(FALSE, FALSE, sizeof(Jump)),
                     .registers = vkernel->rows->len,
                     .renamed = g_new(int32_t, (gsize)vkernel->rows->len + vkernel->npreds + 1),
                     .place = g_new(int32_t, vkernel->insts->len + 1),
                     .inductions = g_array_new(FALSE, FALSE, sizeof(Stepped))};
  memset(copier->renamed, 0xff, ((gsize)vkernel->rows->len + vkernel->npreds + 1) * sizeof *copier->renamed);
  vedit_init(&copier->edit, vkernel);
}

void copier_finish(Copier *copier) {
  vedit_finish(&copier->edit, copier->vkernel);
  for (guint j = 0; j < copier->jumps->len; j++) {
    Jump jump = g_array_index(copier->jumps, Jump, j);
    g_array_index(copier->vkernel->insts, VInst, jump.from).inst.target = (int32_t)jump.to;
  }
  g_array_unref(copier->jumps);
  g_array_unref(copier->inductions);
  g_free(copier->renamed);
  g_free(copier->place);
}

/* ---- single instructions ---- */

void copier_append(Copier *copier, const VInst *vinst) { vedit_append(&copier->edit, vinst); }

uint32_t copier_next(const Copier *copier) { return copier->edit.insts->len; }

guint copier_append_jump(Copier *copier, const VInst *vinst, uint32_t to) {
  Jump jump = {copier_next(copier), to};
  VInst branch = *vinst;
  branch.inst.target = NO_TARGET;
  copier_append(copier, &branch);
  g_array_append_val(copier->jumps, jump);
  return copier->jumps->len - 1;
}

void copier_land(Copier *copier, guint jump) { g_array_index(copier->jumps, Jump, jump).to = copier_next(copier); }

void copier_keep(Copier *copier, uint32_t top) { g_array_index(copier->edit.insts, VInst, top).rolled = true; }

int32_t copier_constant(Copier *copier, bool wide, uint64_t value) {
  return wide ? vkernel_immediate64(copier->vkernel, value) : vkernel_immediate(copier->vkernel, (uint32_t)value);
}

VInst copier_sum(Copier *copier, bool wide, int32_t dst, int32_t a, uint8_t a_row, uint64_t value,
                 const VInst *beside) {
  VInst sum = vinst_beside(wide ? OP_IADD64 : OP_IADD, beside);
  sum.inst.type = wide ? TYPE_U64 : TYPE_U32;
  sum.inst.wide = wide ? WIDE_DST | WIDE_A | WIDE_B : 0;
  sum.dst = dst;
  sum.a = a;
  sum.a_row = a_row;
  sum.b = copier_constant(copier, wide, value);
  return sum;
}

/* ---- names ---- */

/* What an instruction writes, as indices into `renamed`; how many. */
static unsigned written_by(const Copier *copier, const VInst *vinst, uint32_t written[10]) {
  VRegUse uses[8];
  int32_t preds[2];
  unsigned regs = vinst_writes(vinst, uses), count = vinst_pred_writes(vinst, preds);
  for (unsigned u = 0; u < regs; u++)
    written[u] = (uint32_t)uses[u].reg;
  for (unsigned p = 0; p < count; p++)
    written[regs + p] = copier->registers + (uint32_t)preds[p];
  return regs + count;
}

/* It lives in one round only. */
static bool is_of_round(const Copier *copier, const CountedLoop *loop, uint32_t written) {
  const LiveRanges *ranges = copier->counting->ranges;
  bool predicate = written >= copier->registers;
  uint32_t unit =
      predicate ? ranges->unit_of_reg[copier->registers] + written - copier->registers : ranges->unit_of_reg[written];
  unsigned rows = predicate ? 1 : rows_of(copier, (int32_t)written);
  for (unsigned row = 0; row < rows; row++)
    if (counting_survives(copier->counting, loop, unit + row, true, true))
      return false;
  return true;
}

static bool is_induction(const Copier *copier, uint32_t reg) {
  for (guint n = 0; n < copier->inductions->len; n++)
    if (g_array_index(copier->inductions, Stepped, n).of.reg == (int32_t)reg)
      return true;
  return false;
}

void copier_begin(Copier *copier, const CountedLoop *loop) {
  uint32_t written[10];
  g_array_set_size(copier->inductions, 0);
  for (uint32_t i = loop->first; i < loop->end; i++) {
    unsigned count = written_by(copier, inst_at(copier, i), written);
    for (unsigned w = 0; w < count; w++) {
      Stepped stepped = {.before = SAME, .behind = SAME};
      copier->renamed[written[w]] = is_of_round(copier, loop, written[w]) ? OF_ROUND : SAME;
      if (written[w] < copier->registers && copier->renamed[written[w]] == SAME &&
          !is_induction(copier, written[w]) &&
          counting_find_induction(copier->counting, loop, (int32_t)written[w], &stepped.of))
        g_array_append_val(copier->inductions, stepped);
    }
  }
}

static void rename_own(Copier *copier, const CountedLoop *loop) {
  uint32_t written[10];
  for (uint32_t i = loop->first; i < loop->end; i++) {
    unsigned count = written_by(copier, inst_at(copier, i), written);
    for (unsigned w = 0; w < count; w++) {
      int32_t *name = &copier->renamed[written[w]];
      if (*name != SAME)
        *name = written[w] < copier->registers
                    ? vkernel_register(copier->vkernel, rows_of(copier, (int32_t)written[w]))
                    : vkernel_predicate(copier->vkernel);
    }
  }
}

static void put_register(const Copier *copier, int32_t *reg) {
  if (*reg >= 0 && *reg != VREG_SINK && *reg < (int32_t)copier->registers && copier->renamed[*reg] >= 0)
    *reg = copier->renamed[*reg];
}

static void put_predicate(const Copier *copier, int32_t *pred) {
  if (*pred >= 0 && copier->renamed[copier->registers + (uint32_t)*pred] >= 0)
    *pred = copier->renamed[copier->registers + (uint32_t)*pred];
}

void copier_put_names(const Copier *copier, VInst *vinst) {
  put_register(copier, &vinst->dst);
  put_register(copier, &vinst->a);
  put_register(copier, &vinst->b);
  put_register(copier, &vinst->c);
  put_predicate(copier, &vinst->guard);
  put_predicate(copier, &vinst->pdst);
  put_predicate(copier, &vinst->pdst2);
  for (unsigned i = 0; i < G_N_ELEMENTS(vinst->psrc); i++)
    put_predicate(copier, &vinst->psrc[i]);
}

/* ---- what each round adds a constant to ---- */

/* The instruction stands behind where the register is written in a round. */
static bool is_behind(const Copier *copier, const Induction *of, uint32_t i) {
  const Flow *flow = copier->counting->flow;
  uint32_t written = flow->block_of[of->written], block = flow->block_of[i];
  return block == written ? i > of->written : loops_dominates(copier->counting->loops, written, block);
}

/* Operand a is the register as an address, to whose offset something can be added. */
static bool is_offset(const VInst *vinst, const Induction *of, int64_t add) {
  const Inst *inst = &vinst->inst;
  int64_t offset = inst->imm + add;
  bool shared = inst->op == OP_LDS || inst->op == OP_STS || inst->op == OP_ATOMS;
  bool global = (inst->op == OP_LD && inst->space != MEM_PARAM && inst->space != MEM_CONST) || inst->op == OP_ST ||
                inst->op == OP_ATOM || inst->op == OP_RED;
  return vinst->a == of->reg && vinst->a_row == 0 && offset > -OFFSET_MAX && offset < OFFSET_MAX &&
         (of->wide ? global && inst->flags & INST_ADDR64 : shared);
}

static bool reads(const VInst *vinst, int32_t reg) {
  VRegUse uses[8];
  unsigned count = vinst_reads(vinst, uses);
  for (unsigned u = 0; u < count; u++)
    if (uses[u].reg == reg)
      return true;
  return false;
}

/* What the register has more than at the beginning of the copies where an instruction of this copy reads it. */
static int64_t ahead_at(const Copier *copier, const Induction *of, uint32_t i, CopyOf copy) {
  bool behind = is_behind(copier, of, i);
  if (behind && copy.number + 1 == copy.count)
    return 0;
  return of->step * (int64_t)(copy.number + behind);
}

/* Gives an instruction's operand the register's value there. */
static void read_ahead(const Copier *copier, const Stepped *stepped, uint32_t i, CopyOf copy, VInst *vinst) {
  int64_t ahead = ahead_at(copier, &stepped->of, i, copy);
  if (ahead == 0)
    return;
  int32_t value = is_behind(copier, &stepped->of, i) ? stepped->behind : stepped->before;
  if (is_offset(vinst, &stepped->of, ahead) && !(vinst->b == stepped->of.reg || vinst->c == stepped->of.reg)) {
    vinst->inst.imm += (int32_t)ahead;
    return;
  }
  int32_t *operands[] = {&vinst->a, &vinst->b, &vinst->c};
  for (unsigned o = 0; o < G_N_ELEMENTS(operands); o++)
    if (*operands[o] == stepped->of.reg)
      *operands[o] = value;
}

/* The register's values in this copy, where an operand asks for one. */
static void write_ahead(Copier *copier, const CountedLoop *loop, Stepped *stepped, CopyOf copy) {
  const Induction *of = &stepped->of;
  stepped->before = stepped->behind = SAME;
  for (uint32_t i = loop->first; i + 1 < loop->end; i++) {
    const VInst *vinst = inst_at(copier, i);
    int64_t ahead = ahead_at(copier, of, i, copy);
    int32_t *value = is_behind(copier, of, i) ? &stepped->behind : &stepped->before;
    bool steps = i == of->steps || i == of->written || (i == loop->compare && !copy.compares);
    if (steps || ahead == 0 || *value != SAME || !reads(vinst, of->reg) ||
        (is_offset(vinst, of, ahead) && vinst->b != of->reg && vinst->c != of->reg))
      continue;
    *value = vkernel_register(copier->vkernel, of->wide ? 2 : 1);
    VInst sum = copier_sum(copier, of->wide, *value, of->reg, 0, (uint64_t)ahead, vinst);
    copier_append(copier, &sum);
  }
}

/* True if the instruction steps the register: then it is written so that it does what the copies are to do. */
static bool write_step(Copier *copier, const Stepped *stepped, uint32_t i, CopyOf copy) {
  const Induction *of = &stepped->of;
  const VInst *vinst = inst_at(copier, i);
  if (i == of->steps && of->steps != of->written) { /* a register beside it has the next value */
    int32_t next = vinst->dst;
    put_register(copier, &next);
    VInst sum =
        copier_sum(copier, of->wide, next, of->reg, 0, (uint64_t)(of->step * (int64_t)(copy.number + 1)), vinst);
    copier_append(copier, &sum);
    return true;
  }
  if (i != of->written)
    return false;
  if (copy.number + 1 == copy.count) {
    VInst sum = copier_sum(copier, of->wide, of->reg, of->reg, 0, (uint64_t)(of->step * (int64_t)copy.count), vinst);
    copier_append(copier, &sum);
  }
  return true;
}

/* ---- rounds ---- */

/* Writes the copy of an instruction. A branch within the round is noted in `inner`, with its old target. */
static void write_inst(Copier *copier, const CountedLoop *loop, uint32_t i, CopyOf copy, GArray *inner) {
  VInst vinst = *inst_at(copier, i);
  Jump jump = {copier_next(copier), (uint32_t)vinst.inst.target};
  for (guint n = 0; n < copier->inductions->len; n++) {
    const Stepped *stepped = &g_array_index(copier->inductions, Stepped, n);
    if (write_step(copier, stepped, i, copy))
      return;
    read_ahead(copier, stepped, i, copy, &vinst);
  }
  if (vinst.inst.target != NO_TARGET && jump.to > loop->first && jump.to < loop->end) {
    g_array_append_val(inner, jump);
    vinst.inst.target = NO_TARGET;
  }
  copier_put_names(copier, &vinst);
  copier_append(copier, &vinst);
}

void copier_write_round(Copier *copier, const CountedLoop *loop, CopyOf copy) {
  g_autoptr(GArray) inner = g_array_new(FALSE, FALSE, sizeof(Jump));
  uint32_t start = copier_next(copier);
  rename_own(copier, loop);
  for (guint n = 0; n < copier->inductions->len; n++)
    write_ahead(copier, loop, &g_array_index(copier->inductions, Stepped, n), copy);
  for (uint32_t i = loop->first; i < loop->end; i++) {
    copier->place[i - loop->first] = (int32_t)(i == loop->first ? start : copier_next(copier));
    if (copy.named)
      copier->edit.moved[i] = (uint32_t)copier->place[i - loop->first];
    if (i + 1 < loop->end && (i != loop->compare || copy.compares))
      write_inst(copier, loop, i, copy, inner);
  }
  for (guint j = 0; j < inner->len; j++) {
    Jump jump = g_array_index(inner, Jump, j);
    jump.to = (uint32_t)copier->place[jump.to - loop->first];
    g_array_append_val(copier->jumps, jump);
  }
}

void copier_write_loop(Copier *copier, const CountedLoop *loop) {
  uint32_t top = copier_next(copier);
  for (uint32_t i = loop->first; i + 1 < loop->end; i++) {
    copier->edit.moved[i] = copier_next(copier);
    copier_append(copier, inst_at(copier, i));
  }
  copier->edit.moved[loop->end - 1] = copier_next(copier);
  copier_append_jump(copier, inst_at(copier, loop->end - 1), top);
  copier_keep(copier, top);
}
