/* Branches to a kernel's end, and what no lane comes to. */
#include "isa/flow/virtual_view.h"

/* Of each instruction, and of the place behind the last one: a mark stands there. */
static uint8_t *find_marks(const VKernel *vkernel) {
  uint8_t *marked = g_new0(uint8_t, vkernel->insts->len + 1);
  for (uint32_t i = 0; i < vkernel->kernel->nmarks; i++)
    marked[vkernel->kernel->marks[i].pc] = 1;
  return marked;
}

/* Where lanes that come to `target` are led by branches alone. */
static int32_t led_to(const VKernel *vkernel, int32_t target, const uint8_t *marked) {
  for (guint steps = 0; steps < vkernel->insts->len; steps++) {
    if (target < 0 || (guint)target >= vkernel->insts->len || marked[target])
      return NO_TARGET;
    const VInst *vinst = &g_array_index(vkernel->insts, VInst, target);
    if (vinst->inst.op != OP_BRA || vinst->guard != VPRED_TRUE)
      return target;
    target = vinst->inst.target;
  }
  return NO_TARGET;
}

static void shorten_branches(VKernel *vkernel, const uint8_t *marked) {
  for (guint i = 0; i < vkernel->insts->len; i++) {
    VInst *branch = &g_array_index(vkernel->insts, VInst, i);
    int32_t to = branch->inst.op == OP_BRA ? led_to(vkernel, branch->inst.target, marked) : NO_TARGET;
    const VInst *end = to != NO_TARGET ? &g_array_index(vkernel->insts, VInst, to) : NULL;
    if (!end || end->inst.op != OP_EXIT || end->guard != VPRED_TRUE)
      continue;
    branch->inst.op = OP_EXIT;
    branch->inst.target = NO_TARGET;
    branch->inst.flags &= ~(uint32_t)INST_UNIFORM;
  }
}

/* True of a branch over an EXIT and nothing else. */
static bool leads_over_end(const VKernel *vkernel, guint i, const uint8_t *marked) {
  const VInst *branch = &g_array_index(vkernel->insts, VInst, i);
  if (branch->inst.op != OP_BRA || branch->inst.target != (int32_t)i + 2 || branch->guard == VPRED_TRUE ||
      branch->psrc[0] != VPRED_TRUE || i + 2 >= vkernel->insts->len || marked[i + 1])
    return false;
  const VInst *end = branch + 1;
  return end->inst.op == OP_EXIT && end->guard == VPRED_TRUE;
}

/* It is that EXIT for the lanes that don't take it. */
static void turn_branches(VKernel *vkernel, const uint8_t *marked) {
  VEdit edit;
  vedit_init(&edit, vkernel);
  for (guint i = 0; i < vkernel->insts->len; i++) {
    VInst vinst = g_array_index(vkernel->insts, VInst, i);
    edit.moved[i] = edit.insts->len;
    if (leads_over_end(vkernel, i, marked)) {
      vinst.inst.op = OP_EXIT;
      vinst.inst.target = NO_TARGET;
      vinst.inst.flags = (vinst.inst.flags ^ INST_GUARD_NOT) & ~(uint32_t)INST_UNIFORM;
      i++;
      edit.moved[i] = edit.insts->len;
    }
    vedit_append(&edit, &vinst);
  }
  vedit_finish(&edit, vkernel);
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
  g_autofree uint8_t *left = find_marks(vkernel);
  turn_branches(vkernel, left);
}
