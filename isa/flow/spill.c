#include "isa/flow/spill.h"

#include <stdlib.h>
#include <string.h>

#include "isa/flow/loops.h"

enum { NOT_SPILLED = -1, REMADE = -2, LOOP_WEIGHT = 8, LOOPS_MAX = 6, SLOT_ALIGN = 16 };

typedef struct Spill {
  VKernel *vkernel;
  const Flow *flow;
  const LiveRanges *ranges;
  const uint8_t *uniform; /* of each register: it doesn't count; may be NULL */
  uint32_t registers;     /* those that may go */
  int32_t *pressure;      /* rows in use at each instruction */
  uint64_t *cost;         /* of each register: its uses, by the loops around them */
  VInst *
      made; /* of each register: the only instruction that writes it; op NOP if others do, or it can't be made again */
  int32_t *slot; /* of each register: its byte in local memory, NOT_SPILLED or REMADE */
  VEdit edit;
} Spill;

static const VInst *inst_at(const Spill *spill, guint i) { return &g_array_index(spill->vkernel->insts, VInst, i); }

static uint8_t rows_of(const Spill *spill, uint32_t reg) { return g_array_index(spill->vkernel->rows, uint8_t, reg); }

static bool is_uniform(const Spill *spill, uint32_t reg) { return spill->uniform && spill->uniform[reg]; }

/* -- what each register costs -- */

static void find_pressure(Spill *spill) {
  guint n = spill->vkernel->insts->len;
  const LiveRanges *ranges = spill->ranges;
  spill->pressure = g_new0(int32_t, n + 2);
  for (guint r = 0; r < spill->vkernel->rows->len; r++)
    for (uint32_t s = ranges->start[ranges->unit_of_reg[r]];
         !is_uniform(spill, r) && s < ranges->start[ranges->unit_of_reg[r + 1]]; s++) {
      Span span = g_array_index(ranges->spans, Span, s);
      spill->pressure[span.from / 2]++;
      spill->pressure[MIN((span.to + 1) / 2, n)]--;
    }
  for (guint i = 1; i <= n; i++)
    spill->pressure[i] += spill->pressure[i - 1];
}

static bool can_be_remade(const VInst *vinst) {
  if (vinst_is_guarded(vinst) || vinst->inst.flags & INST_MARKS)
    return false;
  if (vinst->inst.op == OP_MOV || vinst->inst.op == OP_MOV64)
    return vinst->a < 0;
  return vinst->inst.op == OP_S2R && !special_is_clock(vinst->inst.mode);
}

static void note_write(Spill *spill, const VInst *vinst, VRegUse use, uint8_t *written) {
  bool whole = use.row == 0 && use.rows == rows_of(spill, (uint32_t)use.reg);
  bool first = !written[use.reg];
  written[use.reg] = 1;
  if (first && whole && can_be_remade(vinst))
    spill->made[use.reg] = *vinst;
  else
    spill->made[use.reg].inst.op = OP_NOP;
}

static void find_costs(Spill *spill) {
  guint n = spill->vkernel->insts->len, registers = spill->vkernel->rows->len;
  g_autofree uint8_t *written = g_new0(uint8_t, registers + 1);
  Loops loops;
  loops_init(&loops, spill->flow);
  spill->cost = g_new0(uint64_t, registers + 1);
  spill->made = g_new0(VInst, registers + 1);
  for (guint i = 0; i < n; i++) {
    VRegUse uses[8];
    uint64_t weight = 1;
    unsigned depth = 0;
    for (int32_t loop = loops.loop_of[spill->flow->block_of[i]]; loop != NO_TARGET && depth < LOOPS_MAX;
         loop = loops.parent[loop], depth++)
      weight *= LOOP_WEIGHT;
    unsigned count = vinst_reads(inst_at(spill, i), uses);
    for (unsigned u = 0; u < count; u++)
      spill->cost[uses[u].reg] += weight;
    count = vinst_writes(inst_at(spill, i), uses);
    for (unsigned u = 0; u < count; u++) {
      spill->cost[uses[u].reg] += weight;
      note_write(spill, inst_at(spill, i), uses[u], written);
    }
  }
  loops_clear(&loops);
}

/* -- which registers -- */

typedef struct Candidate {
  uint32_t reg;
  double worth; /* how long it is in the way, for what its uses cost */
} Candidate;

static int compare_candidates(const void *x, const void *y) {
  const Candidate *a = x, *b = y;
  if (a->worth != b->worth)
    return a->worth > b->worth ? -1 : 1;
  return a->reg < b->reg ? -1 : a->reg > b->reg;
}

/* Instructions at which more than `rows` are in use and the register is, and isn't used itself. */
static uint64_t time_in_way(const Spill *spill, uint32_t reg, int32_t rows) {
  uint32_t unit = spill->ranges->unit_of_reg[reg];
  uint64_t time = 0;
  for (uint32_t s = spill->ranges->start[unit]; s < spill->ranges->start[unit + rows_of(spill, reg)]; s++) {
    Span span = g_array_index(spill->ranges->spans, Span, s);
    for (uint32_t i = span.from / 2 + 1; i < span.to / 2; i++)
      time += spill->pressure[i] > rows;
  }
  return time;
}

static void relieve(Spill *spill, uint32_t reg) {
  uint32_t unit = spill->ranges->unit_of_reg[reg];
  for (uint32_t s = spill->ranges->start[unit]; s < spill->ranges->start[unit + rows_of(spill, reg)]; s++) {
    Span span = g_array_index(spill->ranges->spans, Span, s);
    for (uint32_t i = span.from / 2 + 1; i < span.to / 2; i++)
      spill->pressure[i]--;
  }
}

static void take_out(Spill *spill, uint32_t reg) {
  Kernel *kernel = spill->vkernel->kernel;
  if (spill->made[reg].inst.op != OP_NOP) {
    spill->slot[reg] = REMADE;
    return;
  }
  uint32_t bytes = 4u * rows_of(spill, reg);
  kernel->local_bytes = (kernel->local_bytes + bytes - 1) / bytes * bytes;
  spill->slot[reg] = (int32_t)kernel->local_bytes;
  kernel->local_bytes += bytes;
  kernel->spill_bytes += bytes;
}

static bool choose(Spill *spill, int32_t rows) {
  g_autofree Candidate *candidates = g_new(Candidate, spill->registers + 1);
  uint32_t count = 0;
  bool any = false;
  for (uint32_t reg = 0; reg < spill->registers; reg++) {
    uint64_t time = is_uniform(spill, reg) ? 0 : time_in_way(spill, reg, rows);
    uint64_t cost = spill->made[reg].inst.op != OP_NOP ? (spill->cost[reg] + 3) / 4 : spill->cost[reg];
    if (time)
      candidates[count++] = (Candidate){reg, (double)time / (double)MAX(cost, 1)};
  }
  qsort(candidates, count, sizeof *candidates, compare_candidates);
  for (uint32_t c = 0; c < count; c++) {
    if (!time_in_way(spill, candidates[c].reg, rows))
      continue;
    any = true;
    relieve(spill, candidates[c].reg);
    take_out(spill, candidates[c].reg);
  }
  return any;
}

/* -- the instructions -- */

static MemWidth width_of(uint8_t rows) { return rows == 4 ? WIDTH_128 : rows == 2 ? WIDTH_64 : WIDTH_32; }

static VInst access_slot(const Spill *spill, Opcode op, const VInst *beside, VRegUse use) {
  VInst access = vinst_beside(op, beside);
  access.inst.space = MEM_LOCAL;
  access.inst.width = (uint8_t)width_of(use.rows);
  access.inst.imm = spill->slot[use.reg] + 4 * use.row;
  access.a = vkernel_immediate(spill->vkernel, 0);
  return access;
}

/* The value in a register of its own, or made again. */
static int32_t fill(Spill *spill, const VInst *beside, VRegUse use) {
  bool remade = spill->slot[use.reg] == REMADE;
  VInst load = remade ? spill->made[use.reg] : access_slot(spill, OP_LDL, beside, use);
  if (remade)
    vinst_set_place(&load, &beside->inst);
  load.dst = vkernel_register(spill->vkernel, remade ? rows_of(spill, (uint32_t)use.reg) : use.rows);
  load.dst_row = 0;
  vedit_append(&spill->edit, &load);
  return load.dst;
}

static void read_slot(Spill *spill, const VInst *beside, int32_t *operand, uint8_t *row, uint8_t rows) {
  if (rows == 0 || *operand < 0 || *operand == VREG_SINK || spill->slot[*operand] == NOT_SPILLED)
    return;
  bool remade = spill->slot[*operand] == REMADE;
  *operand = fill(spill, beside, (VRegUse){*operand, *row, rows});
  *row = remade ? *row : 0;
}

static bool guards_itself(const VInst *vinst) {
  return vinst->guard >= 0 && (vinst->guard == vinst->pdst || vinst->guard == vinst->pdst2);
}

/* A register that is only written under a guard would seem to hold a value from before. */
static void clear_register(Spill *spill, const VInst *beside, int32_t reg, uint8_t rows) {
  for (uint8_t row = 0; row < rows; row++) {
    VInst clear = vinst_beside(OP_MOV, beside);
    clear.a = vkernel_immediate(spill->vkernel, 0);
    clear.dst = reg;
    clear.dst_row = row;
    vedit_append(&spill->edit, &clear);
  }
}

/* Stores what the instruction wrote, in the lanes that did. */
static void write_slot(Spill *spill, const VInst *old, VInst *vinst, uint8_t rows) {
  VRegUse use = {old->dst, old->dst_row, rows};
  bool first_filled = guards_itself(old);
  vinst->dst = first_filled ? fill(spill, old, use) : vkernel_register(spill->vkernel, rows);
  vinst->dst_row = 0;
  if (vinst_is_guarded(old) && !first_filled)
    clear_register(spill, old, vinst->dst, rows);
  vedit_append(&spill->edit, vinst);
  VInst store = access_slot(spill, OP_STL, old, use);
  store.b = vinst->dst;
  if (!first_filled) {
    store.guard = vinst->guard;
    store.inst.flags |= vinst->inst.flags & INST_GUARD_NOT;
  }
  vedit_append(&spill->edit, &store);
}

static void rewrite_inst(Spill *spill, const VInst *old) {
  VOperands rows = vinst_operands(old);
  VInst vinst = *old;
  bool written = rows.dst && old->dst >= 0 && old->dst != VREG_SINK;
  if (written && spill->slot[old->dst] == REMADE) {
    if (old->inst.flags & INST_SYNCED) { /* it may be the last one before a loop */
      VInst nop = vinst_beside(OP_NOP, old);
      nop.inst.flags |= INST_SYNCED;
      vedit_append(&spill->edit, &nop);
    }
    return;
  }
  read_slot(spill, old, &vinst.a, &vinst.a_row, rows.a);
  read_slot(spill, old, &vinst.b, &vinst.b_row, rows.b);
  read_slot(spill, old, &vinst.c, &vinst.c_row, rows.c);
  if (written && spill->slot[old->dst] != NOT_SPILLED)
    write_slot(spill, old, &vinst, rows.dst);
  else
    vedit_append(&spill->edit, &vinst);
}

bool registers_spill(VKernel *vkernel, const Flow *flow, const LiveRanges *ranges, const uint8_t *uniform,
                     uint32_t registers, uint32_t rows) {
  Spill spill = {.vkernel = vkernel, .flow = flow, .ranges = ranges, .uniform = uniform, .registers = registers};
  guint n = vkernel->insts->len;
  spill.slot = g_new(int32_t, vkernel->rows->len + 1);
  memset(spill.slot, 0xff, (vkernel->rows->len + 1) * sizeof *spill.slot);
  find_pressure(&spill);
  find_costs(&spill);
  bool any = choose(&spill, (int32_t)rows);
  if (any) {
    vedit_init(&spill.edit, vkernel);
    for (guint i = 0; i < n; i++) {
      VInst old = *inst_at(&spill, i);
      spill.edit.moved[i] = spill.edit.insts->len;
      rewrite_inst(&spill, &old);
    }
    vedit_finish(&spill.edit, vkernel);
    vkernel->kernel->local_bytes = (vkernel->kernel->local_bytes + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN;
  }
  g_free(spill.pressure);
  g_free(spill.cost);
  g_free(spill.made);
  g_free(spill.slot);
  return any;
}
