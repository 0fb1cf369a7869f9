#include "sim/detect/race/unfenced.h"

#include "isa/flow/cfg.h"

static bool is_strong(const Inst *inst) {
  return op_info[inst->op].unit == UNIT_GLOBAL && (op_info[inst->op].flags & (OPF_LOAD | OPF_STORE)) &&
         (inst->sem != SEM_WEAK || op_info[inst->op].flags & OPF_ATOMIC);
}

/* A reduction counts, too: nobody waits for it. */
static bool stores(const Inst *inst) {
  return is_strong(inst) &&
         (inst->op == OP_RED || (op_info[inst->op].flags & OPF_STORE && !(op_info[inst->op].flags & OPF_ATOMIC)));
}

/* What waits for the stores before it; loads behind it may not. */
static bool is_weak_fence(const Inst *inst) {
  return inst->op == OP_MEMBAR && fence_drains(inst->mode) && inst->sem != SEM_SC;
}

static bool is_fence(const Inst *inst) {
  bool releases = inst->sem == SEM_RELEASE || inst->sem == SEM_ACQ_REL || inst->sem == SEM_SC;
  return (inst->op == OP_MEMBAR && fence_drains(inst->mode) && !is_weak_fence(inst)) || (is_strong(inst) && releases);
}

/* What the way from a store comes to within a block. */
typedef enum { WAY_OPEN, WAY_WEAK, WAY_ENDS, WAY_MEETS } Way;

/* From `pc` on the block comes to such an access; to a fence; or (WAY_OPEN, WAY_WEAK: past a fence that isn't
 * fence.sc) to its end. */
static Way way_through(const Kernel *kernel, const CfgBlock *block, uint32_t pc, const Inst *store, Way way) {
  for (; pc <= block->last; pc++) {
    const Inst *inst = &kernel->insts[pc];
    bool other = inst->a != store->a || inst->imm != store->imm, writes = op_info[inst->op].flags & OPF_STORE;
    if (is_fence(inst) || (way == WAY_WEAK && is_strong(inst) && writes))
      return WAY_ENDS;
    if (is_strong(inst) && other)
      return WAY_MEETS;
    way = is_weak_fence(inst) ? WAY_WEAK : way;
  }
  return way;
}

/* A block to look through, and how the way comes there. */
typedef struct WayTo {
  uint32_t block;
  Way way;
} WayTo;

static bool has_pair_from(const Kernel *kernel, const Cfg *cfg, uint32_t store) {
  g_autofree bool *come = g_new0(bool, 2 * cfg->blocks->len);
  g_autoptr(GArray) next = g_array_new(FALSE, FALSE, sizeof(WayTo));
  WayTo at = {cfg->block_of[store], WAY_OPEN};
  uint32_t pc = store + 1;
  for (guint done = 0;; done++) {
    const CfgBlock *block = g_ptr_array_index(cfg->blocks, at.block);
    Way way = way_through(kernel, block, pc, &kernel->insts[store], at.way);
    if (way == WAY_MEETS)
      return true;
    for (guint i = 0; way != WAY_ENDS && i < block->successors->len; i++) {
      WayTo to = {g_array_index(block->successors, uint32_t, i), way};
      bool *known = &come[2 * to.block + way];
      if (!*known)
        g_array_append_val(next, to);
      *known = true;
    }
    if (done == next->len)
      return false;
    at = g_array_index(next, WayTo, done);
    pc = ((const CfgBlock *)g_ptr_array_index(cfg->blocks, at.block))->first;
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
