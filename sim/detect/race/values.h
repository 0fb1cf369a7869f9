/* values.h - numbers for what an instruction reads and writes: registers, and predicates from VALUE_PRED on; and what
 * is known of an operand by its text alone. */
#ifndef LOCKSTEP_DETECT_RACE_VALUES_H
#define LOCKSTEP_DETECT_RACE_VALUES_H

#include "isa/program.h"

enum { VALUE_PRED = 1 << 16 };

static inline bool value_is_written(const Kernel *kernel, const Inst *inst, uint32_t value) {
  if (value >= VALUE_PRED)
    return inst_pred_writes(inst) >> (value - VALUE_PRED) & 1;
  RegList list = inst_writes(inst, kernel->nregs);
  for (unsigned i = 0; i < list.count; i++)
    if (list.reg[i] >= 0 && (uint32_t)list.reg[i] == value)
      return true;
  return false;
}

static inline bool value_is_immediate(const Kernel *kernel, int16_t operand) {
  return operand < 0 && kernel->consts[~operand].kind == CONST_IMMEDIATE;
}

/* `atomicAdd(p, 0)`: it finds what the word has, and leaves that there. */
static inline bool value_is_only_read(const Kernel *kernel, const Inst *inst) {
  bool idle = inst->mode == ATOM_ADD || inst->mode == ATOM_OR || inst->mode == ATOM_XOR;
  return inst->op == OP_ATOM && idle && inst->width == WIDTH_32 && value_is_immediate(kernel, inst->b) &&
         kernel->consts[~inst->b].value == 0;
}

#endif
