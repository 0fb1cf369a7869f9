/* Branches to a kernel's end. */
#include "isa/flow/virtual.h"

static bool is_marked(const VKernel *vkernel, int32_t at) {
  for (uint32_t i = 0; i < vkernel->kernel->nmarks; i++)
    if (vkernel->kernel->marks[i].pc == (uint32_t)at)
      return true;
  return false;
}

void vkernel_early_exits(VKernel *vkernel) {
  for (guint i = 0; i < vkernel->insts->len; i++) {
    VInst *branch = &g_array_index(vkernel->insts, VInst, i);
    if (branch->inst.op != OP_BRA || branch->inst.target < 0 || (guint)branch->inst.target >= vkernel->insts->len)
      continue;
    const VInst *end = &g_array_index(vkernel->insts, VInst, branch->inst.target);
    if (end->inst.op != OP_EXIT || end->guard != VPRED_TRUE || is_marked(vkernel, branch->inst.target))
      continue;
    branch->inst.op = OP_EXIT;
    branch->inst.target = NO_TARGET;
    branch->inst.flags &= ~(uint32_t)INST_UNIFORM;
  }
}
