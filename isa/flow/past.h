/* past.h - lanes that have exited: which of them went past an instruction that others execute, and which returned
 * before it. A lane that skips an instruction and does something behind it took another path, and so did a lane
 * that ends with an effect (a store, an atomic operation ...) in a branch from which nothing leads there. A lane
 * whose last work stands before it has returned early, also where the compiler joins all returns in one EXIT. */
#ifndef LOCKSTEP_ISA_FLOW_PAST_H
#define LOCKSTEP_ISA_FLOW_PAST_H

#include "isa/program.h"

/* Where a lane last worked, if it hasn't exited. */
#define PAST_NOWHERE UINT32_MAX

struct Flow;

/* Sets INST_LEAVES where a block ends behind which a lane may exit without further work: lanes that issue it last
 * worked there. Nothing is set in a kernel in which lanes don't meet. */
void past_mark(Kernel *kernel, const struct Flow *flow);
typedef enum {
  PAST_EARLY, /* they returned before it */
  PAST_BEHIND, /* their last work lies behind it, nothing leads back, and they needn't have executed it, or left a loop around it */
  PAST_BESIDE, /* they ended with an effect in another branch: nothing leads from there to it, nor from it there */
} Past;

/* How lanes whose last work was at `left` (an INST_LEAVES) have passed instruction `pc` for the last time. */
Past past_skipped(const Kernel *kernel, uint32_t pc, uint32_t left);

#endif
