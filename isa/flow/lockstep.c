/* WARPSYNCs on machines where the lanes of a warp run in lock-step. */
#include "isa/flow/virtual_view.h"

/* The instruction behind a WARPSYNC can stand for it: lanes that didn't come there don't come to it either, or it ends them. */
static bool stands_for(const VInst *sync, const VInst *next, bool is_target) {
  return !vinst_is_guarded(sync) && (!is_target || (next->inst.op == OP_EXIT && !vinst_is_guarded(next)));
}

void vkernel_lockstep(VKernel *vkernel) {
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
    if (vinst->inst.op == OP_WARPSYNC && i + 1 < insts->len && stands_for(vinst, vinst + 1, is_target[i + 1]))
      vedit_leave_out(&edit, vinst);
    else
      vedit_append(&edit, vinst);
  }
  vedit_finish(&edit, vkernel);
}
