#include "isa/flow/alignment.h"

static uint32_t least_bit(uint32_t value) {
  uint32_t bit = value & -value;
  return bit == 0 || bit > ALIGNMENT_MAX ? ALIGNMENT_MAX : bit;
}

static bool immediate(const VKernel *vkernel, int32_t operand, uint32_t *value) {
  if (operand >= 0)
    return false;
  const ConstRef *constant = &vkernel->kernel->consts[~operand];
  *value = constant->value;
  return constant->kind == CONST_IMMEDIATE;
}

static uint32_t of_operand(const VKernel *vkernel, const uint8_t *known, int32_t operand, uint8_t row) {
  uint32_t value;
  if (operand >= 0 && operand != VREG_SINK)
    return row == 0 ? known[operand] : 1;
  return immediate(vkernel, operand, &value) ? least_bit(value) : 1;
}

/* Of what an instruction writes to a word. */
static uint32_t of_result(const VKernel *vkernel, const uint8_t *known, const VInst *vinst) {
  const uint32_t harmless = INST_SYNCED | INST_MARKS | INST_GUARD_NOT | INST_NEG_A | INST_NEG_B | INST_NEG_C;
  uint32_t a = of_operand(vkernel, known, vinst->a, vinst->a_row), value;
  uint32_t b = of_operand(vkernel, known, vinst->b, vinst->b_row);
  if (vinst->inst.flags & ~harmless)
    return 1;
  switch (vinst->inst.op) {
  case OP_MOV: return a;
  case OP_IADD:
  case OP_ISUB: return MIN(a, b);
  case OP_IMUL: return MIN(a * b, ALIGNMENT_MAX);
  case OP_IMAD: return MIN(MIN(a * b, ALIGNMENT_MAX), of_operand(vkernel, known, vinst->c, vinst->c_row));
  case OP_SHL: return immediate(vkernel, vinst->b, &value) ? MIN(a << MIN(value, 4), ALIGNMENT_MAX) : a;
  case OP_LOP: return vinst->inst.lop == LOP_AND ? MAX(a, b) : vinst->inst.lop == LOP_PASS_B ? b : MIN(a, b);
  default: return 1;
  }
}

static uint32_t of_write(const VKernel *vkernel, const uint8_t *known, const VInst *vinst, VRegUse use) {
  bool word = use.row == 0 && use.rows == 1 && use.reg == vinst->dst && vinst_operands(vinst).dst == 1;
  return word ? of_result(vkernel, known, vinst) : 1;
}

/* From the greatest downwards, until nothing changes: at most four times for each register. */
uint8_t *alignment_new(const VKernel *vkernel) {
  uint8_t *known = g_new0(uint8_t, vkernel->rows->len + 1);
  for (guint i = 0; i < vkernel->insts->len; i++) {
    VRegUse uses[8];
    unsigned count = vinst_writes(&g_array_index(vkernel->insts, VInst, i), uses);
    for (unsigned u = 0; u < count; u++)
      known[uses[u].reg] = ALIGNMENT_MAX;
  }
  for (guint r = 0; r < vkernel->rows->len; r++)
    known[r] = MAX(known[r], 1);
  for (bool changed = true; changed;) {
    changed = false;
    for (guint i = 0; i < vkernel->insts->len; i++) {
      const VInst *vinst = &g_array_index(vkernel->insts, VInst, i);
      VRegUse uses[8];
      unsigned count = vinst_writes(vinst, uses);
      for (unsigned u = 0; u < count; u++) {
        uint32_t now = of_write(vkernel, known, vinst, uses[u]);
        changed |= now < known[uses[u].reg];
        known[uses[u].reg] = (uint8_t)MIN(known[uses[u].reg], now);
      }
    }
  }
  return known;
}
