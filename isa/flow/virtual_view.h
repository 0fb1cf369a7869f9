/* virtual_view.h - what the passes over virtual kernels share: operands by form, the flow graph, and edits that keep
 * targets, marks and labels right. Private to isa/. */
#ifndef LOCKSTEP_ISA_FLOW_VIRTUAL_VIEW_H
#define LOCKSTEP_ISA_FLOW_VIRTUAL_VIEW_H

#include "isa/flow/flow.h"
#include "isa/flow/virtual.h"

/* Virtual predicates read (the guard first) and written; how many. */
unsigned vinst_pred_reads(const VInst *vinst, int32_t preds[4]);
unsigned vinst_pred_writes(const VInst *vinst, int32_t preds[2]);
bool vinst_writes_pred(const VInst *vinst, int32_t pred);
bool vinst_is_guarded(const VInst *vinst);

/* A VInst of `op` that stands for nothing in the source: its place is that of `vinst`. */
VInst vinst_beside(Opcode op, const VInst *vinst);

/* The flow graph of the instructions. Release with flow_clear(). */
void vkernel_flow(const VKernel *vkernel, Flow *flow);

/* Whether a loop whose lanes may be in different rounds (VInst.apart) begins with that block. */
bool vkernel_is_apart(const VKernel *vkernel, const Flow *flow, uint32_t block);

/* The row of a constant, ~index, added if the kernel's table hasn't got it. */
int16_t vkernel_immediate(VKernel *vkernel, uint32_t value);
/* The low word of two new rows. */
int16_t vkernel_immediate64(VKernel *vkernel, uint64_t value);

/* A rewrite of the instructions: append the new ones to `insts` and note in `moved` where each old one, or what
 * stands before it now, begins. Targets of the appended instructions are old indices; vedit_finish() translates them,
 * marks and labels. */
typedef struct VEdit {
  GArray *insts; /* VInst */
  uint32_t *moved;
  bool synced; /* an order of lanes was left out before the next instruction (vedit_leave_out) */
} VEdit;
void vedit_init(VEdit *edit, const VKernel *vkernel);
/* Appends an instruction, or leaves it out: the order of lanes that it stands for is then that of the next
 * (INST_SYNCED). */
void vedit_append(VEdit *edit, const VInst *vinst);
void vedit_leave_out(VEdit *edit, const VInst *vinst);
void vedit_finish(VEdit *edit, VKernel *vkernel);

#endif
