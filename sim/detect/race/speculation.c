#include "sim/detect/race/speculation.h"

#include "isa/flow/cfg.h"
#include "sim/core/exec.h"

/* Where a load's value goes. */
typedef struct Selection {
  uint32_t select;       /* the select, as an instruction index; 0: the load isn't such a one */
  uint32_t steps, count; /* what computes the select's predicate between the two: `count` of Speculation.steps */
  bool is_second;        /* the select takes the value where its predicate is false */
  bool unknown;          /* what the select asks can't be computed when the load executes */
} Selection;

struct Speculation {
  const Kernel *kernel;
  Selection *of;  /* of each instruction */
  GArray *steps;  /* uint32_t: instructions, in order */
  uint32_t *rows; /* a copy of a warp's registers; nregs + SINK_ROWS rows of 32 */
};

/* What a slice still has to be told. */
typedef struct Wanted {
  RegSet regs;
  uint32_t preds;
} Wanted;

static bool is_tracked(int16_t reg) { return reg >= 0 && reg < REGSET_MAX; }

static bool has_any(const RegSet *set, RegList list) {
  for (unsigned i = 0; i < list.count; i++)
    if (is_tracked(list.reg[i]) && regset_has(set, (unsigned)list.reg[i]))
      return true;
  return false;
}

static void put_all(RegSet *set, RegList list, uint32_t nregs) {
  for (unsigned i = 0; i < list.count; i++)
    if (is_tracked(list.reg[i]) && (uint32_t)list.reg[i] < nregs)
      regset_put(set, (unsigned)list.reg[i]);
}

static void drop_all(RegSet *set, RegList list) {
  for (unsigned i = 0; i < list.count; i++)
    if (is_tracked(list.reg[i]))
      regset_drop(set, (unsigned)list.reg[i]);
}

static bool is_plain_load(const Inst *inst) {
  uint8_t unit = op_info[inst->op].unit;
  return (op_info[inst->op].flags & OPF_LOAD) && !(op_info[inst->op].flags & (OPF_ATOMIC | OPF_STORE)) &&
         (unit == UNIT_SHARED || unit == UNIT_GLOBAL) && inst->sem == SEM_WEAK;
}

static bool is_select(const Inst *inst) {
  return (inst->op == OP_SEL || inst->op == OP_SEL64) && !inst_is_guarded(inst);
}

/* It touches registers only, and gives the same whenever it executes. */
static bool can_go_ahead(const Inst *inst) {
  return op_info[inst->op].unit == UNIT_ALU || (inst->op == OP_S2R && !special_is_clock(inst->mode));
}

/* Which of its two values the select takes from `loaded`; false if from neither or both. */
static bool takes_one(const Inst *select, const RegSet *loaded, bool *is_second) {
  bool first = is_tracked(select->a) && regset_has(loaded, (unsigned)select->a);
  *is_second = is_tracked(select->b) && regset_has(loaded, (unsigned)select->b);
  return first != *is_second;
}

/* What comes of a value goes on to the registers that the instruction writes, and to nothing else. */
static bool passes_on(const Inst *inst) {
  return op_info[inst->op].unit == UNIT_ALU && !inst_is_guarded(inst) && !inst_pred_writes(inst);
}

/* The select that takes the value of the load at `pc`, in its block, which ends at `last`; 0: none, or not only
 * that. */
static Selection follow(const Kernel *kernel, const Liveness *liveness, uint32_t pc, uint32_t last) {
  RegSet loaded = {{0}};
  put_all(&loaded, inst_writes(&kernel->insts[pc], kernel->nregs), kernel->nregs);
  for (uint32_t at = pc + 1; at <= last && at + 1 < kernel->ninsts; at++) {
    const Inst *inst = &kernel->insts[at];
    RegList writes = inst_writes(inst, kernel->nregs);
    Selection found = {.select = at};
    if (!has_any(&loaded, inst_reads(inst))) {
      if (has_any(&loaded, writes))
        return (Selection){0};
    } else if (is_select(inst) && takes_one(inst, &loaded, &found.is_second)) {
      drop_all(&loaded, writes);
      return regset_empty(regset_and(loaded, liveness->live_regs[at + 1])) ? found : (Selection){0};
    } else if (passes_on(inst)) {
      put_all(&loaded, writes, kernel->nregs);
    } else {
      return (Selection){0};
    }
  }
  return (Selection){0};
}

/* Puts down what computes the select's predicate behind the load at `pc`; false if that takes more than registers. */
static bool find_steps(Speculation *speculation, uint32_t pc, Selection *selection) {
  const Kernel *kernel = speculation->kernel;
  Wanted wanted = {.preds = 1u << kernel->insts[selection->select].psrc[0] & ~(1u << PRED_TRUE)};
  g_autoptr(GArray) backward = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  for (uint32_t at = selection->select - 1; at > pc; at--) {
    const Inst *inst = &kernel->insts[at];
    RegList writes = inst_writes(inst, kernel->nregs);
    if (!(inst_pred_writes(inst) & wanted.preds) && !has_any(&wanted.regs, writes))
      continue;
    if (!can_go_ahead(inst))
      return false;
    g_array_append_val(backward, at);
    if (!inst_is_guarded(inst)) {
      drop_all(&wanted.regs, writes);
      wanted.preds &= ~inst_pred_writes(inst);
    }
    put_all(&wanted.regs, inst_reads(inst), kernel->nregs);
    wanted.preds |= inst_pred_reads(inst);
  }
  if (has_any(&wanted.regs, inst_writes(&kernel->insts[pc], kernel->nregs)))
    return false;
  selection->steps = speculation->steps->len;
  selection->count = backward->len;
  for (guint i = backward->len; i-- > 0;)
    g_array_append_val(speculation->steps, g_array_index(backward, uint32_t, i));
  return true;
}

static bool has_select(const Kernel *kernel) {
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    if (is_select(&kernel->insts[pc]))
      return true;
  return false;
}

static bool find_all(Speculation *speculation) {
  const Kernel *kernel = speculation->kernel;
  g_autoptr(Cfg) cfg = cfg_new(kernel);
  Liveness liveness = cfg_liveness(kernel);
  bool found = false;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    if (!is_plain_load(&kernel->insts[pc]))
      continue;
    const CfgBlock *block = g_ptr_array_index(cfg->blocks, cfg->block_of[pc]);
    Selection selection = follow(kernel, &liveness, pc, block->last);
    if (!selection.select)
      continue;
    selection.unknown = !find_steps(speculation, pc, &selection);
    speculation->of[pc] = selection;
    found = true;
  }
  liveness_clear(&liveness);
  return found;
}

Speculation *speculation_new(const Kernel *kernel) {
  if (!has_select(kernel))
    return NULL;
  Speculation *speculation = g_new0(Speculation, 1);
  speculation->kernel = kernel;
  speculation->of = g_new0(Selection, kernel->ninsts);
  speculation->steps = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  if (find_all(speculation)) {
    speculation->rows = g_new0(uint32_t, (kernel->nregs + SINK_ROWS) * WARP_LANES);
    return speculation;
  }
  speculation_free(speculation);
  return NULL;
}

void speculation_free(Speculation *speculation) {
  if (!speculation)
    return;
  g_free(speculation->of);
  g_array_free(speculation->steps, TRUE);
  g_free(speculation->rows);
  g_free(speculation);
}

/* Copies a step's operands and what it changes; false if one of these is itself under way. */
static bool fetch_rows(Speculation *speculation, const Warp *warp, RegList rows) {
  for (unsigned i = 0; i < rows.count; i++) {
    if (rows.reg[i] < 0)
      continue;
    if (warp->reg_ready[rows.reg[i]] == REG_PENDING)
      return false;
    size_t at = (size_t)rows.reg[i] * WARP_LANES;
    memcpy(speculation->rows + at, warp->regs + at, WARP_LANES * sizeof(uint32_t));
  }
  return true;
}

/* Executes the steps ahead; what the select then asks as a mask of lanes. */
static bool ask_ahead(Speculation *speculation, const Selection *selection, const ProbePoint *point,
                      uint32_t *asked) {
  const Warp *warp = point->warp;
  const Inst *insts = speculation->kernel->insts;
  const uint32_t *steps = (const uint32_t *)(void *)speculation->steps->data + selection->steps;
  uint32_t preds[PRED_ROWS];
  memcpy(preds, warp->pred, sizeof preds);
  for (uint32_t i = 0; i < selection->count; i++)
    if (!fetch_rows(speculation, warp, inst_reads(&insts[steps[i]])) ||
        !fetch_rows(speculation, warp, inst_writes(&insts[steps[i]], speculation->kernel->nregs)))
      return false;
  for (uint32_t i = 0; i < selection->count; i++) {
    const Inst *inst = &insts[steps[i]];
    uint32_t guard = inst->flags & INST_GUARD_NOT ? ~preds[inst->guard] : preds[inst->guard];
    Issue issue = {.inst = inst,
                   .regs = speculation->rows,
                   .consts = warp->consts,
                   .pred = preds,
                   .mask = point->lanes & guard,
                   .pc = steps[i],
                   .now = point->cycle,
                   .gpu = (struct Gpu *)point->gpu,
                   .sm = (struct Sm *)point->sm,
                   .block = (struct Block *)point->block,
                   .warp = (Warp *)warp};
    if (issue.mask)
      executors[inst->op](&issue);
  }
  *asked = preds[insts[selection->select].psrc[0]];
  return true;
}

uint32_t speculation_dropped(Speculation *speculation, const ProbePoint *point, bool *perhaps) {
  const Selection *selection = &speculation->of[point->pc];
  *perhaps = false;
  if (!selection->select)
    return 0;
  uint32_t first;
  if (selection->unknown || !ask_ahead(speculation, selection, point, &first)) {
    *perhaps = true;
    return 0;
  }
  first = speculation->kernel->insts[selection->select].psrc_not & 1 ? ~first : first;
  return (selection->is_second ? first : ~first) & point->lanes;
}
