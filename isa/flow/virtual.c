#include "isa/flow/virtual.h"

#include "base/assert.h"

VKernel *vkernel_new(Kernel *kernel) {
  VKernel *vkernel = g_new0(VKernel, 1);
  vkernel->kernel = kernel;
  vkernel->insts = g_array_new(FALSE, FALSE, sizeof(VInst));
  vkernel->rows = g_array_new(FALSE, FALSE, sizeof(uint8_t));
  return vkernel;
}

void vkernel_free(VKernel *vkernel) {
  if (!vkernel)
    return;
  kernel_free(vkernel->kernel);
  g_array_unref(vkernel->insts);
  g_array_unref(vkernel->rows);
  g_free(vkernel);
}

int32_t vkernel_register(VKernel *vkernel, uint8_t rows) {
  LS_REQUIRE("virtual-register-rows", rows == 1 || rows == 2 || rows == 4);
  g_array_append_val(vkernel->rows, rows);
  return (int32_t)(vkernel->rows->len - 1);
}

int32_t vkernel_predicate(VKernel *vkernel) { return (int32_t)vkernel->npreds++; }

VInst vinst_new(Opcode op) {
  return (VInst){
      .inst = {.op = (uint16_t)op,
               .guard = PRED_TRUE,
               .pdst = PRED_SINK,
               .pdst2 = PRED_SINK,
               .psrc = {PRED_TRUE, PRED_TRUE, PRED_TRUE},
               .target = NO_TARGET,
               .reconv = NO_TARGET},
      .dst = VREG_SINK,
      .a = VREG_SINK,
      .b = VREG_SINK,
      .c = VREG_SINK,
      .guard = VPRED_TRUE,
      .pdst = VPRED_SINK,
      .pdst2 = VPRED_SINK,
      .psrc = {VPRED_TRUE, VPRED_TRUE, VPRED_TRUE},
  };
}

void vinst_set_place(VInst *vinst, const Inst *place) {
  vinst->inst.file = place->file;
  vinst->inst.line = place->line;
  vinst->inst.column = place->column;
  vinst->inst.inlined = place->inlined;
  vinst->inst.address = place->address;
}

static uint8_t width_rows(uint8_t width) { return width == WIDTH_128 ? 4 : width == WIDTH_64 ? 2 : 1; }

static uint8_t value_rows(const Inst *inst, unsigned wide_bit) { return inst->wide & wide_bit ? 2 : 1; }

/* Of an atomic operation. */
static uint8_t atomic_rows(const Inst *inst, unsigned wide_bit) {
  return inst->width == WIDTH_128 ? 4 : value_rows(inst, wide_bit);
}

static uint8_t result_rows(const Inst *inst, Form form) {
  return form == FORM_D_M       ? width_rows(inst->width)
         : form == FORM_D_M_B_C ? atomic_rows(inst, WIDE_DST)
                                : value_rows(inst, WIDE_DST);
}

VOperands vinst_operands(const VInst *vinst) {
  const Inst *inst = &vinst->inst;
  VOperands rows = {0};
  uint8_t address = inst->flags & INST_ADDR64 ? 2 : 1;
  Form form = op_info[inst->op].form;
  switch (form) {
  case FORM_D_A_B_C:
    rows.c = value_rows(inst, WIDE_C);
    /* fall through */
  case FORM_D_A_B:
  case FORM_A_B:
  case FORM_D_A_B_S:
  case FORM_D_A_B_Q:
  case FORM_D_A_B_CMP:
  case FORM_P_A_B_CMP:
    rows.b = value_rows(inst, WIDE_B);
    /* fall through */
  case FORM_D_A:
  case FORM_A:
  case FORM_P_A: rows.a = value_rows(inst, WIDE_A); break;
  case FORM_D_M:
  case FORM_P_D_M: rows.a = address; break;
  case FORM_M_A:
  case FORM_P_M_A:
    rows.a = address;
    rows.b = inst->op == OP_LDGSTS ? 1 : width_rows(inst->width);
    break;
  case FORM_D_M_B_C:
    rows.a = address;
    rows.b = atomic_rows(inst, WIDE_B);
    rows.c = inst->mode == ATOM_CAS || inst_is_bulk(inst) ? atomic_rows(inst, WIDE_C) : 0;
    break;
  case FORM_BAR:
    rows.a = 1;
    rows.b = inst->flags & INST_HAS_COUNT ? 1 : 0;
    break;
  case FORM_D_P_Q: rows.a = inst->flags & INST_HAS_MASK ? 1 : 0; break;
  case FORM_NONE:
  case FORM_P_Q_Q_Q:
  case FORM_D_SR:
  case FORM_T: break;
  }
  bool writes = form != FORM_NONE && form != FORM_A && form != FORM_A_B && form != FORM_P_A &&
                form != FORM_P_A_B_CMP &&
                form != FORM_P_Q_Q_Q && form != FORM_M_A && form != FORM_P_M_A && form != FORM_T;
  if (writes)
    rows.dst = result_rows(inst, form);
  return rows;
}

static unsigned add_use(VRegUse *uses, unsigned count, int32_t reg, uint8_t row, uint8_t rows) {
  if (rows == 0 || reg < 0 || reg == VREG_SINK)
    return count;
  uses[count] = (VRegUse){reg, row, rows};
  return count + 1;
}

unsigned vinst_reads(const VInst *vinst, VRegUse uses[8]) {
  VOperands rows = vinst_operands(vinst);
  unsigned count = add_use(uses, 0, vinst->a, vinst->a_row, rows.a);
  count = add_use(uses, count, vinst->b, vinst->b_row, rows.b);
  return add_use(uses, count, vinst->c, vinst->c_row, rows.c);
}

unsigned vinst_writes(const VInst *vinst, VRegUse uses[8]) {
  return add_use(uses, 0, vinst->dst, vinst->dst_row, vinst_operands(vinst).dst);
}
