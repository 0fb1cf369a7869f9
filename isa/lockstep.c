/* WARPSYNCs on machines where the lanes of a warp run in lock-step. */
#include "isa/virtual_view.h"

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
    bool stays = vinst->inst.op != OP_WARPSYNC || vinst_is_guarded(vinst) || is_target[i + 1] || i + 1 == insts->len;
    edit.moved[i] = edit.insts->len;
    if (stays)
      vedit_append(&edit, vinst);
    else
      vedit_leave_out(&edit, vinst);
  }
  vedit_finish(&edit, vkernel);
}
