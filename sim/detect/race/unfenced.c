#include "sim/detect/race/unfenced.h"

#include "isa/flow/cfg.h"

static bool is_strong(const Inst *inst) {
  return op_info[inst->op].unit == UNIT_GLOBAL && (op_info[inst->op].flags & (OPF_LOAD | OPF_STORE)) &&
         (inst->sem != SEM_WEAK || op_info[inst->op].flags & OPF_ATOMIC);
}

static bool stores(const Inst *inst) {
  return is_strong(inst) && op_info[inst->op].flags & OPF_STORE && !(op_info[inst->op].flags & OPF_ATOMIC);
}

/* What waits for the stores before it. */
static bool is_fence(const Inst *inst) {
  bool releases = inst->sem == SEM_RELEASE || inst->sem == SEM_ACQ_REL || inst->sem == SEM_SC;
  return (inst->op == OP_MEMBAR && inst->mode != FENCE_CTA) || (is_strong(inst) && releases);
}

/* True if from `pc` on the block comes to such an access; *open: to its end, without a fence. */
static bool meets_in(const Kernel *kernel, const CfgBlock *block, uint32_t pc, const Inst *store, bool *open) {
  *open = false;
  for (; pc <= block->last; pc++) {
    const Inst *inst = &kernel->insts[pc];
    if (is_fence(inst))
      return false;
    if (is_strong(inst) && (inst->a != store->a || inst->imm != store->imm))
      return true;
  }
  *open = true;
  return false;
}

static bool has_pair_from(const Kernel *kernel, const Cfg *cfg, uint32_t store) {
  g_autofree bool *come = g_new0(bool, cfg->blocks->len);
  g_autoptr(GArray) next = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  const CfgBlock *block = g_ptr_array_index(cfg->blocks, cfg->block_of[store]);
  uint32_t pc = store + 1;
  for (guint at = 0;; at++) {
    bool open;
    if (meets_in(kernel, block, pc, &kernel->insts[store], &open))
      return true;
    for (guint i = 0; open && i < block->successors->len; i++) {
      uint32_t to = g_array_index(block->successors, uint32_t, i);
      if (!come[to])
        g_array_append_val(next, to);
      come[to] = true;
    }
    if (at == next->len)
      return false;
    block = g_ptr_array_index(cfg->blocks, g_array_index(next, uint32_t, at));
    pc = block->first;
  }
}

bool unfenced_has_pair(const Kernel *kernel) {
  g_autoptr(Cfg) cfg = NULL;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    if (!stores(&kernel->insts[pc]))
      continue;
    cfg = cfg ? cfg : cfg_new(kernel);
    if (has_pair_from(kernel, cfg, pc))
      return true;
  }
  return false;
}
