#include "isa/flow/scratch.h"

/* Of ptxas 13.0 -v for sm_75 and sm_90: one operation between 16 values that live on, beside an addition there. */
unsigned scratch_registers(const VInst *vinst) {
  const Inst *inst = &vinst->inst;
  bool is_signed = inst->type == TYPE_S32 || inst->type == TYPE_S64;
  switch ((Opcode)inst->op) {
  case OP_IDIV:
  case OP_IREM: return 5;
  case OP_IDIV64:
  case OP_IREM64: return is_signed ? 13 : 7;
  case OP_FDIV: return 9;
  case OP_DDIV: return 15;
  case OP_DMUFU: return inst->mode == MUFU_SQRT ? 12 : 7;
  default: return 0;
  }
}

static bool is_zero(const VKernel *vkernel, int32_t operand, uint8_t rows) {
  for (unsigned row = 0; row < rows; row++) {
    const ConstRef *constant = &vkernel->kernel->consts[~operand + (int32_t)row];
    if (constant->kind != CONST_IMMEDIATE || constant->value != 0)
      return false;
  }
  return true;
}

static bool is_memory(const VInst *vinst) { return op_info[vinst->inst.op].flags & (OPF_LOAD | OPF_STORE); }

/* A constant that goes to memory, RZ aside; the two values of a CAS are a group, which has no RZ. */
unsigned scratch_constants(const VKernel *vkernel, const VInst *vinst) {
  VOperands rows = vinst_operands(vinst);
  unsigned count = 0;
  if (!is_memory(vinst))
    return 0;
  if (rows.b && vinst->b < 0 && (rows.c || !is_zero(vkernel, vinst->b, rows.b)))
    count += rows.b;
  if (rows.c && vinst->c < 0)
    count += rows.c;
  return count;
}

bool scratch_wants_odd(const VInst *vinst) {
  VOperands rows = vinst_operands(vinst);
  return (op_info[vinst->inst.op].flags & OPF_STORE) && (vinst->inst.flags & INST_ADDR64) && rows.b == 1 &&
         rows.c == 0;
}

bool scratch_reads_late(const VInst *vinst) { return is_memory(vinst); }
