/* vkernel_allocate: dead results go, registers and predicates get their places, and the instructions become a
 * Kernel's. */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "isa/flow/cfg.h"
#include "isa/flow/color.h"
#include "isa/flow/constants.h"
#include "isa/flow/narrow.h"
#include "isa/flow/predicates.h"
#include "isa/flow/regset.h"
#include "isa/flow/schedule.h"
#include "isa/flow/select.h"
#include "isa/flow/sink.h"
#include "isa/flow/spill.h"
#include "isa/flow/uniform.h"
#include "isa/flow/wide_loads.h"

enum { SPILL_ROUNDS = 8, REGISTER_ROUNDS = 24, SPARE_ROWS = 4 };

/* -- results nobody reads -- */

typedef struct Dead {
  const VKernel *vkernel;
  uint32_t *readers; /* of each register, then of each predicate */
  uint8_t *gone;     /* of each instruction */
  bool changed;
} Dead;

static void count_readers(Dead *dead, const VInst *vinst, uint32_t step) {
  VRegUse uses[8];
  int32_t preds[4];
  unsigned count = vinst_reads(vinst, uses);
  for (unsigned u = 0; u < count; u++)
    dead->readers[uses[u].reg] += step;
  count = vinst_pred_reads(vinst, preds);
  for (unsigned p = 0; p < count; p++)
    dead->readers[dead->vkernel->rows->len + (uint32_t)preds[p]] += step;
}

static bool is_wanted(const Dead *dead, const VInst *vinst) {
  if (!unit_is_arithmetic(op_info[vinst->inst.op].unit) || (vinst->inst.flags & (INST_CARRY_OUT | INST_MARKS)))
    return true;
  VRegUse uses[8];
  int32_t preds[2];
  unsigned count = vinst_writes(vinst, uses);
  for (unsigned u = 0; u < count; u++)
    if (dead->readers[uses[u].reg])
      return true;
  count = vinst_pred_writes(vinst, preds);
  for (unsigned p = 0; p < count; p++)
    if (dead->readers[dead->vkernel->rows->len + (uint32_t)preds[p]])
      return true;
  return false;
}

/* Backwards, so that a chain of them goes in one round. */
static void drop_round(Dead *dead) {
  dead->changed = false;
  for (guint i = dead->vkernel->insts->len; i-- > 0;) {
    const VInst *vinst = &g_array_index(dead->vkernel->insts, VInst, i);
    if (dead->gone[i] || is_wanted(dead, vinst))
      continue;
    dead->gone[i] = 1;
    dead->changed = true;
    count_readers(dead, vinst, UINT32_MAX);
  }
}

/* Nobody reads what it gives. */
static bool result_is_dead(const Dead *dead, const VInst *vinst) {
  return vinst->dst == VREG_SINK || !dead->readers[vinst->dst];
}

/* ptxas 13.0: an atomic operation on global memory whose result nobody reads is a RED, but for EXCH and CAS, which
 * RED hasn't, and for one that acquires, or has a generic address. Those have no register on a machine that ptxas
 * 13.0 knows; nor has one on shared memory. On Fermi Mesa's compiler gives the result of such an EXCH or CAS to RZ
 * (CodeEmitterNVC0::emitATOM); of others it isn't known. */
static void reduce_atomic(const Dead *dead, VInst *vinst) {
  Inst *inst = &vinst->inst;
  const VKernel *vkernel = dead->vkernel;
  bool drops = (inst->op == OP_ATOM && vkernel->drops_atomics) || (inst->op == OP_ATOMS && vkernel->uniform_datapath);
  if (drops && result_is_dead(dead, vinst))
    vinst->dst = VREG_SINK;
  if (inst->op != OP_ATOM || inst->space != MEM_GLOBAL || inst->mode == ATOM_EXCH || inst->mode == ATOM_CAS ||
      inst->sem == SEM_ACQUIRE || inst->sem == SEM_ACQ_REL || inst->sem == SEM_SC || !result_is_dead(dead, vinst))
    return;
  inst->op = OP_RED;
  vinst->dst = VREG_SINK;
}

/* Arithmetic whose results nobody reads goes; loads, votes and everything else with an effect or a time of its own
 * stays. */
static void drop_dead(VKernel *vkernel) {
  enum { ROUNDS = 4 };
  guint n = vkernel->insts->len;
  g_autofree uint32_t *readers = g_new0(uint32_t, (gsize)vkernel->rows->len + vkernel->npreds + 1);
  g_autofree uint8_t *gone = g_new0(uint8_t, n + 1);
  Dead dead = {.vkernel = vkernel, .readers = readers, .gone = gone, .changed = true};
  for (guint i = 0; i < n; i++)
    count_readers(&dead, &g_array_index(vkernel->insts, VInst, i), 1);
  for (unsigned round = 0; round < ROUNDS && dead.changed; round++)
    drop_round(&dead);
  VEdit edit;
  vedit_init(&edit, vkernel);
  for (guint i = 0; i < n; i++) {
    VInst *vinst = &g_array_index(vkernel->insts, VInst, i);
    edit.moved[i] = edit.insts->len;
    reduce_atomic(&dead, vinst);
    if (gone[i])
      vedit_leave_out(&edit, vinst);
    else
      vedit_append(&edit, vinst);
  }
  vedit_finish(&edit, vkernel);
}

/* -- before -- */

static void mark_insts(VKernel *vkernel) {
  for (guint i = 0; i < vkernel->insts->len; i++)
    g_array_index(vkernel->insts, VInst, i).inst.flags &= ~(uint32_t)INST_MARKS;
  for (uint32_t m = 0; m < vkernel->kernel->nmarks; m++)
    g_array_index(vkernel->insts, VInst, vkernel->kernel->marks[m].pc).inst.flags |= INST_MARKS;
}

/* What is wider than a row and discarded gets a register of its own, but for results of atomic operations, which
 * nobody waits for. */
static void widen_sinks(VKernel *vkernel) {
  for (guint i = 0; i < vkernel->insts->len; i++) {
    VInst *vinst = &g_array_index(vkernel->insts, VInst, i);
    uint8_t rows = vinst_operands(vinst).dst;
    bool atomic = vinst->inst.op == OP_ATOMS || vinst->inst.op == OP_ATOM;
    if (vinst->dst == VREG_SINK && rows > (atomic ? SINK_ROWS : 1)) {
      vinst->dst = vkernel_register(vkernel, rows);
      vinst->dst_row = 0;
    }
  }
}

/* -- results that overlap an operand -- */

/* True if the operand has a part of the result's rows, but not the same rows. */
static bool overlaps_result(const VInst *vinst, VOperands rows, int32_t operand, uint8_t row, uint8_t count) {
  if (count == 0 || operand < 0 || operand == VREG_SINK || operand != vinst->dst || count == rows.dst)
    return false;
  bool load = op_info[vinst->inst.op].flags & OPF_LOAD;
  return row < vinst->dst_row + rows.dst && vinst->dst_row < row + count && !(load && rows.dst < count);
}

static void copy_operand(VKernel *vkernel, VEdit *edit, const VInst *vinst, int32_t *operand, uint8_t *row,
                         uint8_t count) {
  VInst copy = vinst_beside(count == 2 ? OP_MOV64 : OP_MOV, vinst);
  copy.inst.wide = count == 2 ? WIDE_DST | WIDE_A : 0;
  copy.a = *operand;
  copy.a_row = *row;
  copy.dst = *operand = vkernel_register(vkernel, count);
  *row = 0;
  g_array_append_val(edit->insts, copy);
}

/* An instruction that reads one word of the pair it writes, or the like, reads a copy. Other operands are kept apart
 * from results of another size by their live ranges. */
static void part_operands(VKernel *vkernel) {
  VEdit edit;
  vedit_init(&edit, vkernel);
  for (guint i = 0; i < vkernel->insts->len; i++) {
    VInst vinst = g_array_index(vkernel->insts, VInst, i);
    VOperands rows = vinst_operands(&vinst);
    edit.moved[i] = edit.insts->len;
    if (overlaps_result(&vinst, rows, vinst.a, vinst.a_row, rows.a))
      copy_operand(vkernel, &edit, &vinst, &vinst.a, &vinst.a_row, rows.a);
    if (overlaps_result(&vinst, rows, vinst.b, vinst.b_row, rows.b))
      copy_operand(vkernel, &edit, &vinst, &vinst.b, &vinst.b_row, rows.b);
    if (overlaps_result(&vinst, rows, vinst.c, vinst.c_row, rows.c))
      copy_operand(vkernel, &edit, &vinst, &vinst.c, &vinst.c_row, rows.c);
    g_array_append_val(edit.insts, vinst);
  }
  vedit_finish(&edit, vkernel);
}

/* -- spilled predicates -- */

/* A predicate without a place lives in a register, 1 or 0, and is set from it for each instruction that reads it. */
typedef struct Spill {
  VKernel *vkernel;
  VEdit edit;
  const Colors *colors;
  int32_t *home; /* of each predicate that was there before: its register, or -1 */
  uint32_t old_preds;
} Spill;

static bool is_spilled(const Spill *spill, int32_t pred) {
  return pred >= 0 && (uint32_t)pred < spill->old_preds && spill->colors->predicate[pred] == PRED_SINK;
}

static int32_t home_of(Spill *spill, int32_t pred) {
  if (spill->home[pred] < 0)
    spill->home[pred] = vkernel_register(spill->vkernel, 1);
  return spill->home[pred];
}

static int32_t fill(Spill *spill, const VInst *vinst, int32_t pred) {
  VInst set = vinst_beside(OP_ISETP, vinst);
  set.inst.cmp = CMP_NE;
  set.a = home_of(spill, pred);
  set.b = vkernel_immediate(spill->vkernel, 0);
  set.pdst = vkernel_predicate(spill->vkernel);
  g_array_append_val(spill->edit.insts, set);
  return set.pdst;
}

static void store(Spill *spill, const VInst *vinst, int32_t pred, int32_t now) {
  VInst keep = vinst_beside(OP_SEL, vinst);
  keep.a = vkernel_immediate(spill->vkernel, 1);
  keep.b = vkernel_immediate(spill->vkernel, 0);
  keep.psrc[0] = now;
  keep.dst = home_of(spill, pred);
  g_array_append_val(spill->edit.insts, keep);
}

static void spill_inst(Spill *spill, const VInst *old) {
  VInst vinst = *old;
  int32_t *const reads[] = {&vinst.guard, &vinst.psrc[0], &vinst.psrc[1], &vinst.psrc[2]};
  int32_t *const written[] = {&vinst.pdst, &vinst.pdst2};
  for (unsigned i = 0; i < G_N_ELEMENTS(reads); i++)
    if (is_spilled(spill, *reads[i]))
      *reads[i] = fill(spill, &vinst, *reads[i]);
  /* Under a guard the lanes that don't write keep what was there. */
  for (unsigned i = 0; i < G_N_ELEMENTS(written); i++)
    if (is_spilled(spill, *written[i]))
      *written[i] = vinst_is_guarded(old) ? fill(spill, &vinst, *written[i]) : vkernel_predicate(spill->vkernel);
  g_array_append_val(spill->edit.insts, vinst);
  const int32_t before[] = {old->pdst, old->pdst2};
  for (unsigned i = 0; i < G_N_ELEMENTS(written); i++)
    if (is_spilled(spill, before[i]))
      store(spill, &vinst, before[i], *written[i]);
}

static void spill_predicates(VKernel *vkernel, const Colors *colors) {
  Spill spill = {.vkernel = vkernel, .colors = colors, .old_preds = vkernel->npreds};
  spill.home = g_new(int32_t, vkernel->npreds + 1);
  memset(spill.home, 0xff, (vkernel->npreds + 1) * sizeof *spill.home);
  vedit_init(&spill.edit, vkernel);
  for (guint i = 0; i < vkernel->insts->len; i++) {
    spill.edit.moved[i] = spill.edit.insts->len;
    spill_inst(&spill, &g_array_index(vkernel->insts, VInst, i));
  }
  vedit_finish(&spill.edit, vkernel);
  mark_insts(vkernel);
  g_free(spill.home);
}

/* -- after -- */

static int16_t source_row(const Colors *colors, int32_t operand, uint8_t row, uint8_t rows) {
  if (rows == 0)
    return 0;
  LS_REQUIRE("virtual-operand-set", operand != VREG_SINK);
  if (operand < 0)
    return (int16_t)operand;
  LS_REQUIRE("virtual-operand-aligned", row % rows == 0);
  return (int16_t)(colors->row[operand] + row);
}

static uint8_t pred_number(const Colors *colors, int32_t pred, uint8_t none) {
  return pred < 0 ? none : (uint8_t)colors->predicate[pred];
}

static Inst place_inst(const VInst *vinst, const Colors *colors, uint32_t nregs) {
  Inst inst = vinst->inst;
  VOperands rows = vinst_operands(vinst);
  inst.dst =
      vinst->dst == VREG_SINK && rows.dst ? (int16_t)nregs : source_row(colors, vinst->dst, vinst->dst_row, rows.dst);
  inst.a = source_row(colors, vinst->a, vinst->a_row, rows.a);
  inst.b = source_row(colors, vinst->b, vinst->b_row, rows.b);
  inst.c = source_row(colors, vinst->c, vinst->c_row, rows.c);
  inst.guard = pred_number(colors, vinst->guard, PRED_TRUE);
  inst.pdst = pred_number(colors, vinst->pdst, PRED_SINK);
  inst.pdst2 = pred_number(colors, vinst->pdst2, PRED_SINK);
  for (unsigned i = 0; i < G_N_ELEMENTS(inst.psrc); i++)
    inst.psrc[i] = pred_number(colors, vinst->psrc[i], PRED_TRUE);
  return inst;
}

static bool moves_to_itself(const Inst *inst) {
  return (inst->op == OP_MOV || inst->op == OP_MOV64) && inst->a == inst->dst && inst->pdst == PRED_SINK &&
         !(inst->flags & INST_MARKS);
}

static void place_insts(VKernel *vkernel, const Colors *colors) {
  Kernel *kernel = vkernel->kernel;
  kernel->nregs = colors->nrows + colors->uniform_rows;
  kernel->uniform_registers = colors->uniform_rows;
  VEdit edit;
  vedit_init(&edit, vkernel);
  for (guint i = 0; i < vkernel->insts->len; i++) {
    VInst vinst = g_array_index(vkernel->insts, VInst, i);
    vinst.inst = place_inst(&vinst, colors, kernel->nregs);
    edit.moved[i] = edit.insts->len;
    if (i + 1 < vkernel->insts->len && moves_to_itself(&vinst.inst))
      vedit_leave_out(&edit, &vinst);
    else
      vedit_append(&edit, &vinst);
  }
  vedit_finish(&edit, vkernel);
  g_free(kernel->insts);
  kernel->ninsts = vkernel->insts->len;
  kernel->insts = g_new(Inst, kernel->ninsts + 1);
  for (guint i = 0; i < kernel->ninsts; i++)
    kernel->insts[i] = g_array_index(vkernel->insts, VInst, i).inst;
}

/* -- the pass -- */

/* What colouring goes by. */
typedef struct Coloring {
  VKernel *vkernel;
  uint32_t own_registers, own_preds; /* those that weren't made by a spill */
  uint32_t limit, rows;              /* rows: so many are left in use by the next spill of registers */
  Flow flow;
  LiveRanges ranges;
  Colors colors;
  uint8_t *keep, *uniform;
} Coloring;

static bool color_kernel(Coloring *coloring) {
  VKernel *vkernel = coloring->vkernel;
  coloring->keep = g_new0(uint8_t, vkernel->npreds + 1);
  memset(coloring->keep + coloring->own_preds, 1, vkernel->npreds - coloring->own_preds);
  vkernel_flow(vkernel, &coloring->flow);
  if (vkernel->uniform_datapath)
    coloring->uniform = uniform_registers(vkernel, &coloring->flow);
  bool ok = live_ranges_init(&coloring->ranges, vkernel, &coloring->flow);
  if (ok)
    colors_init(&coloring->colors, vkernel, &coloring->ranges, &coloring->flow, coloring->keep, coloring->uniform);
  if (ok && coloring->colors.nrows + coloring->colors.uniform_rows >= REGSET_MAX) {
    g_clear_pointer(&coloring->uniform, g_free);
    colors_clear(&coloring->colors);
    colors_init(&coloring->colors, vkernel, &coloring->ranges, &coloring->flow, coloring->keep, NULL);
  }
  if (ok && coloring->colors.nrows > MIN(coloring->limit, COLOR_ROOM)) {
    colors_clear(&coloring->colors);
    colors_init(&coloring->colors, vkernel, &coloring->ranges, NULL, coloring->keep, coloring->uniform);
  }
  return ok;
}

static void clear_coloring(Coloring *coloring) {
  live_ranges_clear(&coloring->ranges);
  flow_clear(&coloring->flow);
  colors_clear(&coloring->colors);
  g_clear_pointer(&coloring->keep, g_free);
  g_clear_pointer(&coloring->uniform, g_free);
}

static bool all_predicates_placed(const VKernel *vkernel, const Colors *colors) {
  for (uint32_t p = 0; p < vkernel->npreds; p++)
    if (colors->predicate[p] == PRED_SINK)
      return false;
  return true;
}

static bool fail_registers(const Coloring *coloring, const char *file, Diag *diag) {
  const Kernel *kernel = coloring->vkernel->kernel;
  uint32_t rows = coloring->colors.nrows, hidden = kernel->hidden_registers;
  return diag_error(diag, file, kernel->line, 0, "kernel `%s` needs %s%u registers a thread; its limit is %u",
                    kernel->name, rows == COLOR_ROWS_MAX ? "at least " : "", rows + hidden, coloring->limit + hidden);
}

/* Registers that are in the way go, a few more than the last time if that wasn't enough: groups of rows leave
 * holes. */
static bool spill_rows(Coloring *coloring) {
  coloring->rows = MIN(coloring->rows, coloring->limit);
  while (coloring->rows > 0) {
    coloring->rows -= MIN(coloring->rows, SPARE_ROWS);
    if (registers_spill(coloring->vkernel, &coloring->flow, &coloring->ranges, coloring->uniform,
                        coloring->own_registers, coloring->rows))
      return true;
  }
  return false;
}

/* Colours until every predicate has a place and registers are within the limit: what came from a spill lives for one
 * instruction and is kept. */
static bool color_until_placed(Coloring *coloring, const char *file, Diag *diag) {
  const Kernel *kernel = coloring->vkernel->kernel;
  unsigned rounds = 0, register_rounds = 0;
  for (;; clear_coloring(coloring)) {
    if (!color_kernel(coloring))
      return diag_error(diag, file, kernel->line, 0,
                        "kernel `%s` has far more values in use at once than a machine has registers", kernel->name);
    if (!all_predicates_placed(coloring->vkernel, &coloring->colors)) {
      if (rounds++ == SPILL_ROUNDS)
        return diag_error(diag, file, kernel->line, 0, "kernel `%s` needs more than %d predicates at once",
                          kernel->name, PREDICATE_PLACES);
      spill_predicates(coloring->vkernel, &coloring->colors);
    } else if (coloring->colors.nrows <= coloring->limit) {
      return true;
    } else if (register_rounds++ == REGISTER_ROUNDS || !spill_rows(coloring)) {
      return fail_registers(coloring, file, diag);
    }
  }
}

Kernel *vkernel_allocate(VKernel *vkernel, unsigned max_registers, const char *file, Diag *diag) {
  LS_REQUIRE("virtual-kernel-instructions", vkernel->insts->len > 0);
  mark_insts(vkernel);
  vkernel_fold_constants(vkernel);
  vkernel_fold_selects(vkernel);
  vkernel_narrow(vkernel);
  drop_dead(vkernel);
  vkernel_split_constants(vkernel);
  drop_dead(vkernel);
  vkernel_place_values(vkernel);
  unsigned limit = max_registers - MIN(max_registers, vkernel->kernel->hidden_registers);
  if (vkernel->uniform_datapath) { /* what ptxas of today is known to do */
    vkernel_widen_loads(vkernel);
    vkernel_schedule(vkernel, limit);
  }
  part_operands(vkernel);
  mark_insts(vkernel);
  widen_sinks(vkernel);
  Coloring coloring = {.vkernel = vkernel,
                       .own_registers = vkernel->rows->len,
                       .own_preds = vkernel->npreds,
                       .limit = limit,
                       .rows = UINT32_MAX};
  Kernel *kernel = NULL;
  if (color_until_placed(&coloring, file, diag)) {
    place_insts(vkernel, &coloring.colors);
    cfg_annotate(vkernel->kernel);
    kernel = vkernel->kernel;
    vkernel->kernel = NULL;
  }
  clear_coloring(&coloring);
  return kernel;
}
