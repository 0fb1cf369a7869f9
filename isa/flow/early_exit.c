/* Branches to a kernel's end, and what no lane comes to. */
#include "isa/flow/virtual_view.h"

/* Of each instruction, and of the place behind the last one: a mark stands there. */
static uint8_t *find_marks(const VKernel *vkernel) {
  uint8_t *marked = g_new0(uint8_t, vkernel->insts->len + 1);
  for (uint32_t i = 0; i < vkernel->kernel->nmarks; i++)
    marked[vkernel->kernel->marks[i].pc] = 1;
  return marked;
}

static void shorten_branches(VKernel *vkernel, const uint8_t *marked) {
  for (guint i = 0; i < vkernel->insts->len; i++) {
    VInst *branch = &g_array_index(vkernel->insts, VInst, i);
    if (branch->inst.op != OP_BRA || branch->inst.target < 0 || (guint)branch->inst.target >= vkernel->insts->len)
      continue;
    const VInst *end = &g_array_index(vkernel->insts, VInst, branch->inst.target);
    if (end->inst.op != OP_EXIT || end->guard != VPRED_TRUE || marked[branch->inst.target])
      continue;
    branch->inst.op = OP_EXIT;
    branch->inst.target = NO_TARGET;
    branch->inst.flags &= ~(uint32_t)INST_UNIFORM;
  }
}

/* Marks that no lane comes to stay, with the blocks that they stand in, and so does the last block: labels may stand
 * there. */
static bool find_unreachable(const Flow *flow, const uint8_t *marked, uint8_t *gone) {
  bool found = false;
  for (uint32_t b = 0; b + 1 < flow->nblocks; b++) {
    bool keep = flow->reachable[b];
    for (uint32_t i = flow->first[b]; i < flow->first[b + 1] && !keep; i++)
      keep = marked[i];
    gone[b] = !keep;
    found |= !keep;
  }
  return found;
}

static void drop_unreachable(VKernel *vkernel, const uint8_t *marked) {
  Flow flow;
  vkernel_flow(vkernel, &flow);
  g_autofree uint8_t *gone = g_new0(uint8_t, flow.nblocks + 1);
  if (find_unreachable(&flow, marked, gone)) {
    VEdit edit;
    vedit_init(&edit, vkernel);
    for (guint i = 0; i < vkernel->insts->len; i++) {
      edit.moved[i] = edit.insts->len;
      if (!gone[flow.block_of[i]])
        vedit_append(&edit, &g_array_index(vkernel->insts, VInst, i));
    }
    vedit_finish(&edit, vkernel);
  }
  flow_clear(&flow);
}

void vkernel_early_exits(VKernel *vkernel) {
  g_autofree uint8_t *marked = find_marks(vkernel);
  shorten_branches(vkernel, marked);
  drop_unreachable(vkernel, marked);
}
