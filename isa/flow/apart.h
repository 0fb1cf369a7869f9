/* apart.h - loops whose lanes ptxas takes to be in different rounds, though they leave together. Private to isa/.
 *
 * Such a loop has a branch that sends lanes two ways of which each goes back to the loop's first block by itself
 * (`if (own) atomicAdd(...);` at the end of `for (;;)`), so the ways meet in the next round. And its first block
 * doesn't decide whether lanes leave, or else ptxas would turn the loop round, and the ways meet before that
 * decision. What the loops around it count is then different from lane to lane (divergence.h), and the loop has its
 * YIELD (yield.h): tests/converge/merge.cu, `steal_*`. */
#ifndef LOCKSTEP_ISA_FLOW_APART_H
#define LOCKSTEP_ISA_FLOW_APART_H

#include "isa/flow/virtual.h"

/* Sets VInst.apart in the first blocks of these loops. Before short branches are predicated, as ptxas has it. */
void apart_mark(VKernel *vkernel);

#endif
