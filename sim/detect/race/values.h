/* values.h - numbers for what an instruction reads and writes: registers, and predicates from VALUE_PRED on. */
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

#endif
