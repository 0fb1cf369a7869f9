/* sources.h - the strong loads of global memory from which the value of a register comes, over arithmetic, on
 * whatever way: those that may have written it, backwards. Not what decides which of them did.
 * Does not model: values that pass through memory or other lanes; more than SOURCES_MAX loads. */
#ifndef LOCKSTEP_DETECT_RACE_SOURCES_H
#define LOCKSTEP_DETECT_RACE_SOURCES_H

#include "isa/flow/cfg.h"
#include "isa/program.h"

enum { SOURCES_MAX = 16 };

typedef struct Sources {
  uint32_t pc[SOURCES_MAX];
  unsigned count;
} Sources;

/* A load of global memory that is volatile or stronger, or an atomic operation with a result. */
bool sources_is_load(const Inst *inst);
/* Of a register as of before instruction `pc`; of a constant none. `atomics`: atomic operations count, too. */
Sources sources_of(const Kernel *kernel, const Cfg *cfg, uint32_t pc, int16_t operand, bool atomics);

#endif
