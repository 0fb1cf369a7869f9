#include "isa/flow/virtual_view.h"

VInst vinst_beside(Opcode op, const VInst *vinst) {
  VInst other = vinst_new(op);
  vinst_set_place(&other, &vinst->inst);
  return other;
}

unsigned vinst_pred_reads(const VInst *vinst, int32_t preds[4]) {
  const int32_t read[] = {vinst->guard, vinst->psrc[0], vinst->psrc[1], vinst->psrc[2]};
  unsigned count = 0;
  for (unsigned i = 0; i < G_N_ELEMENTS(read); i++)
    if (read[i] >= 0)
      preds[count++] = read[i];
  return count;
}

unsigned vinst_pred_writes(const VInst *vinst, int32_t preds[2]) {
  unsigned count = 0;
  if (vinst->pdst >= 0)
    preds[count++] = vinst->pdst;
  if (vinst->pdst2 >= 0)
    preds[count++] = vinst->pdst2;
  return count;
}

bool vinst_is_guarded(const VInst *vinst) {
  return vinst->guard != VPRED_TRUE || (vinst->inst.flags & INST_GUARD_NOT);
}

void vkernel_flow(const VKernel *vkernel, Flow *flow) {
  g_autofree Inst *insts = g_new(Inst, vkernel->insts->len + 1);
  for (guint i = 0; i < vkernel->insts->len; i++) {
    const VInst *vinst = &g_array_index(vkernel->insts, VInst, i);
    insts[i] = vinst->inst;
    insts[i].guard = vinst->guard == VPRED_TRUE ? PRED_TRUE : 0;
  }
  Kernel view = {.insts = insts, .ninsts = vkernel->insts->len};
  flow_init(flow, &view);
}

int16_t vkernel_immediate(VKernel *vkernel, uint32_t value) {
  Kernel *kernel = vkernel->kernel;
  for (uint32_t i = 0; i < kernel->nconsts; i++)
    if (kernel->consts[i].kind == CONST_IMMEDIATE && kernel->consts[i].value == value)
      return (int16_t)~i;
  kernel->consts = g_renew(ConstRef, kernel->consts, kernel->nconsts + 1);
  kernel->consts[kernel->nconsts++] = (ConstRef){.kind = CONST_IMMEDIATE, .value = value};
  return (int16_t) ~(kernel->nconsts - 1);
}

int16_t vkernel_immediate64(VKernel *vkernel, uint64_t value) {
  Kernel *kernel = vkernel->kernel;
  kernel->consts = g_renew(ConstRef, kernel->consts, kernel->nconsts + 2);
  kernel->consts[kernel->nconsts++] = (ConstRef){.kind = CONST_IMMEDIATE, .value = (uint32_t)value};
  kernel->consts[kernel->nconsts++] = (ConstRef){.kind = CONST_IMMEDIATE, .value = (uint32_t)(value >> 32)};
  return (int16_t) ~(kernel->nconsts - 2);
}

bool vkernel_is_apart(const VKernel *vkernel, const Flow *flow, uint32_t block) {
  for (uint32_t i = flow->first[block]; i < flow->first[block + 1]; i++)
    if (g_array_index(vkernel->insts, VInst, i).apart)
      return true;
  return false;
}

/* -- editing -- */

void vedit_init(VEdit *edit, const VKernel *vkernel) {
  edit->insts = g_array_sized_new(FALSE, FALSE, sizeof(VInst), vkernel->insts->len);
  edit->moved = g_new(uint32_t, vkernel->insts->len + 1);
  edit->synced = false;
}

void vedit_append(VEdit *edit, const VInst *vinst) {
  VInst appended = *vinst;
  appended.inst.flags |= edit->synced ? INST_SYNCED : 0;
  edit->synced = false;
  g_array_append_val(edit->insts, appended);
}

void vedit_leave_out(VEdit *edit, const VInst *vinst) {
  edit->synced |= vinst->inst.op == OP_WARPSYNC || vinst->inst.flags & INST_SYNCED;
}

void vedit_finish(VEdit *edit, VKernel *vkernel) {
  Kernel *kernel = vkernel->kernel;
  edit->moved[vkernel->insts->len] = edit->insts->len;
  for (guint i = 0; i < edit->insts->len; i++) {
    Inst *inst = &g_array_index(edit->insts, VInst, i).inst;
    if (inst->target != NO_TARGET)
      inst->target = (int32_t)edit->moved[inst->target];
  }
  for (uint32_t i = 0; i < kernel->nmarks; i++)
    kernel->marks[i].pc = edit->moved[kernel->marks[i].pc];
  for (uint32_t i = 0; i < kernel->nlabels; i++)
    kernel->labels[i].pc = edit->moved[kernel->labels[i].pc];
  g_array_unref(vkernel->insts);
  vkernel->insts = edit->insts;
  g_free(edit->moved);
  *edit = (VEdit){0};
}

bool vinst_writes_pred(const VInst *vinst, int32_t pred) {
  int32_t preds[2];
  unsigned count = vinst_pred_writes(vinst, preds);
  for (unsigned i = 0; i < count; i++)
    if (preds[i] == pred)
      return true;
  return false;
}
