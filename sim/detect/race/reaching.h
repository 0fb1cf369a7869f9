/* reaching.h - which instructions may have written what a register or predicate holds at some place. */
#ifndef LOCKSTEP_DETECT_RACE_REACHING_H
#define LOCKSTEP_DETECT_RACE_REACHING_H

#include "isa/flow/cfg.h"

/* A register, or a predicate by its mask, as of before instruction `pc`, whose lanes use it. */
typedef struct Reached {
  uint32_t pc, mask;
  int16_t reg; /* < 0: none */
} Reached;

/* All instructions whose result may be there: uint32_t. One that is guarded otherwise doesn't end the search.
 * *whole: each way from the kernel's begin has one of them that isn't. The caller owns the array. */
GArray *reaching_writers(const Kernel *kernel, const Cfg *cfg, const Reached *want, bool *whole);
/* The only one; NO_TARGET: there are several, or none for certain. */
int32_t reaching_only(const Kernel *kernel, const Cfg *cfg, uint32_t pc, int16_t reg);

/* Where the value of an operand comes from, past copies: a constant, or what an instruction has written. */
typedef struct Origin {
  bool known, constant;
  ConstRef value;
  uint32_t pc;
  int16_t reg;
} Origin;
Origin reaching_origin(const Kernel *kernel, const Cfg *cfg, uint32_t pc, int16_t operand);
/* True if both are known, and the same. */
bool reaching_is_same(const Origin *one, const Origin *other);

#endif
