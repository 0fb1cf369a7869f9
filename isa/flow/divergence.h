/* divergence.h - which branches of a kernel may send the lanes of a warp two ways, by what ptxas takes for uniform.
 *
 * Different in each lane: the thread's number, lane numbers and masks, results of atomics, shuffles and local memory.
 * The same in all: everything of the block and the launch, constants, clocks, votes, and a load (volatile or not)
 * from an address that is the same in all, unless it is generic and the kernel makes generic addresses of its local
 * memory (`cvta.local`): then it may be of that. A value written between a divergent branch and the join of its ways
 * is divergent behind the join.
 * So is, within it, a variable of a loop that lanes leave in different rounds.
 * So is, in the loops around one whose lanes may be in different rounds (VInst.apart), what they count.
 * A way that only leads to the kernel's end isn't one: the lanes that take it are gone, the others stay together.
 * Private to isa/. */
#ifndef LOCKSTEP_ISA_FLOW_DIVERGENCE_H
#define LOCKSTEP_ISA_FLOW_DIVERGENCE_H

#include "isa/flow/live_range.h"
#include "isa/flow/loops.h"

/* Of an instruction: operands that may differ between the lanes. */
enum { DIFFERS_A = 1, DIFFERS_B = 2, DIFFERS_C = 4 };

typedef struct Divergence {
  Flow flow;           /* without the edges that only lead to the end */
  int32_t *ipdom;      /* immediate post-dominators of that graph */
  uint8_t *branches;   /* of each block: it ends with a branch whose guard may differ between the lanes */
  uint8_t *differs;    /* of each instruction: DIFFERS_* */
  uint8_t *diverged;   /* of each block: only part of the lanes may be in it */
  uint8_t *only_exits; /* of each block: it does nothing but end the lanes */
} Divergence;

void divergence_init(Divergence *divergence, const VKernel *vkernel, const Flow *flow, const Loops *loops);
void divergence_clear(Divergence *divergence);
/* The ways of block `block` part and meet again at its post-dominator. */
bool divergence_forks(const Divergence *divergence, uint32_t block);

/* The blocks that can be reached from the successors of `block` before its post-dominator, marked with `stamp` in
 * `seen` and appended to `region`. */
void divergence_region(const Divergence *divergence, uint32_t block, uint32_t *seen, uint32_t stamp, GArray *region);

#endif
