#include "sim/detect/race/speculation.h"

#include "isa/flow/cfg.h"

static bool has_any(const RegSet *set, RegList list) {
  for (unsigned i = 0; i < list.count; i++)
    if (list.reg[i] >= 0 && list.reg[i] < REGSET_MAX && regset_has(set, (unsigned)list.reg[i]))
      return true;
  return false;
}

static bool is_plain_load(const Inst *inst) {
  uint8_t unit = op_info[inst->op].unit;
  return (op_info[inst->op].flags & OPF_LOAD) && !(op_info[inst->op].flags & (OPF_ATOMIC | OPF_STORE)) &&
         (unit == UNIT_SHARED || unit == UNIT_GLOBAL) && inst->sem == SEM_WEAK;
}

static bool is_select(const Inst *inst) {
  return (inst->op == OP_SEL || inst->op == OP_SEL64) && !inst_is_guarded(inst);
}

/* Which of its two values the select takes from `loaded`; false if from neither or both. */
static bool takes_one(const Inst *select, const RegSet *loaded, bool *is_second) {
  bool first = select->a >= 0 && select->a < REGSET_MAX && regset_has(loaded, (unsigned)select->a);
  *is_second = select->b >= 0 && select->b < REGSET_MAX && regset_has(loaded, (unsigned)select->b);
  return first != *is_second;
}

/* Follows the value of the load at `pc` to the end of its block, which is `last`. */
static Selection follow(const Kernel *kernel, const Liveness *liveness, uint32_t pc, uint32_t last) {
  RegList written = inst_writes(&kernel->insts[pc], kernel->nregs);
  RegSet loaded = {{0}};
  for (unsigned i = 0; i < written.count; i++)
    if (written.reg[i] >= 0 && (uint32_t)written.reg[i] < MIN(kernel->nregs, (uint32_t)REGSET_MAX))
      regset_put(&loaded, (unsigned)written.reg[i]);
  uint32_t preds = 0;
  for (uint32_t at = pc + 1; at <= last; at++) {
    const Inst *inst = &kernel->insts[at];
    Selection found = {.select = at};
    if (has_any(&loaded, inst_reads(inst))) {
      if (!is_select(inst) || !takes_one(inst, &loaded, &found.is_second) || at + 1 >= kernel->ninsts)
        return (Selection){0};
      found.known_later = preds & inst_pred_reads(inst);
      RegList selected = inst_writes(inst, kernel->nregs);
      for (unsigned i = 0; i < selected.count; i++)
        if (selected.reg[i] >= 0 && selected.reg[i] < REGSET_MAX)
          regset_drop(&loaded, (unsigned)selected.reg[i]);
      RegSet wanted = regset_and(loaded, liveness->live_regs[at + 1]);
      return regset_equal(wanted, (RegSet){{0}}) ? found : (Selection){0};
    }
    if (has_any(&loaded, inst_writes(inst, kernel->nregs)))
      return (Selection){0};
    preds |= inst_pred_writes(inst);
  }
  return (Selection){0};
}

static bool has_select(const Kernel *kernel) {
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    if (is_select(&kernel->insts[pc]))
      return true;
  return false;
}

Selection *speculation_find(const Kernel *kernel) {
  if (!has_select(kernel))
    return NULL;
  g_autoptr(Cfg) cfg = cfg_new(kernel);
  Liveness liveness = cfg_liveness(kernel);
  Selection *selections = g_new0(Selection, kernel->ninsts);
  bool found = false;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    if (!is_plain_load(&kernel->insts[pc]))
      continue;
    const CfgBlock *block = g_ptr_array_index(cfg->blocks, cfg->block_of[pc]);
    selections[pc] = follow(kernel, &liveness, pc, block->last);
    found |= selections[pc].select != 0;
  }
  liveness_clear(&liveness);
  if (!found)
    g_clear_pointer(&selections, g_free);
  return selections;
}

uint32_t speculation_dropped(const Kernel *kernel, const Selection *selection, const Warp *warp) {
  if (!selection->select || selection->known_later)
    return 0;
  const Inst *select = &kernel->insts[selection->select];
  uint32_t first = warp->pred[select->psrc[0]];
  first = select->psrc_not & 1 ? ~first : first;
  return selection->is_second ? first : ~first;
}
