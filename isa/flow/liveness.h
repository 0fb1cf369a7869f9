/* liveness.h - what is still wanted at each instruction: the result of cfg_liveness(). */
#ifndef LOCKSTEP_ISA_FLOW_LIVENESS_H
#define LOCKSTEP_ISA_FLOW_LIVENESS_H

#include "isa/flow/regset.h"

/* Registers and predicates that some path from an instruction reads before it writes them whole: live_regs[pc]
 * (nregs <= REGSET_MAX) and bit p of live_preds[pc], *before* instruction pc. Arrays of ninsts, newly allocated. */
typedef struct Liveness {
  RegSet *live_regs;
  uint32_t *live_preds;
} Liveness;
void liveness_clear(Liveness *liveness);

#endif
