/* WARPSYNCs: their masks, and those on machines where the lanes of a warp run in lock-step. */
#include "isa/flow/virtual_view.h"
#include "isa/flow/yield.h"

void vkernel_fold_masks(VKernel *vkernel) {
  g_autofree int32_t *value = g_new0(int32_t, vkernel->rows->len + 1); /* 0: none yet; > 0: not a constant */
  for (guint i = 0; i < vkernel->insts->len; i++) {
    const VInst *vinst = &g_array_index(vkernel->insts, VInst, i);
    VRegUse uses[8];
    if (vinst_writes(vinst, uses) == 0)
      continue;
    bool constant = vinst->inst.op == OP_MOV && vinst->a < 0 && !vinst_is_guarded(vinst) && value[uses[0].reg] == 0 &&
                    g_array_index(vkernel->rows, uint8_t, uses[0].reg) == 1;
    value[uses[0].reg] = constant ? vinst->a : 1;
  }
  for (guint i = 0; i < vkernel->insts->len; i++) {
    VInst *vinst = &g_array_index(vkernel->insts, VInst, i);
    if (vinst->inst.op == OP_WARPSYNC && vinst->a >= 0 && vinst->a != VREG_SINK && value[vinst->a] < 0)
      vinst->a = value[vinst->a];
  }
}

/* True if the mask of a WARPSYNC is known where it was left out: it is that of all lanes, or its operation has it,
 * too. */
static bool keeps_mask(const VKernel *vkernel, const VInst *sync, const VInst *next) {
  switch ((Opcode)next->inst.op) {
  case OP_VOTE: return next->inst.flags & INST_HAS_MASK;
  case OP_MATCH:
  case OP_REDUX:
  case OP_ELECT: return true;
  default: return is_full_warpsync(vkernel, sync);
  }
}

/* The instruction behind a WARPSYNC can stand for it: lanes that didn't come there don't come to it either, or it
 * ends them. */
static bool stands_for(const VKernel *vkernel, const VInst *sync, const VInst *next, bool is_target) {
  return !vinst_is_guarded(sync) && keeps_mask(vkernel, sync, next) &&
         (!is_target || (next->inst.op == OP_EXIT && !vinst_is_guarded(next)));
}

void vkernel_lockstep(VKernel *vkernel) {
  vkernel_fold_masks(vkernel);
  const GArray *insts = vkernel->insts;
  g_autofree uint8_t *is_target = g_new0(uint8_t, insts->len + 1);
  for (guint i = 0; i < insts->len; i++)
    if (g_array_index(insts, VInst, i).inst.target != NO_TARGET)
      is_target[g_array_index(insts, VInst, i).inst.target] = 1;
  VEdit edit;
  vedit_init(&edit, vkernel);
  for (guint i = 0; i < insts->len; i++) {
    const VInst *vinst = &g_array_index(insts, VInst, i);
    edit.moved[i] = edit.insts->len;
    if (vinst->inst.op == OP_WARPSYNC && i + 1 < insts->len &&
        stands_for(vkernel, vinst, vinst + 1, is_target[i + 1]))
      vedit_leave_out(&edit, vinst);
    else
      vedit_append(&edit, vinst);
  }
  vedit_finish(&edit, vkernel);
}
