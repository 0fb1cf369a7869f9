/* yield.h - where ptxas puts YIELD, and where it doesn't rely on the lanes of a warp being together any more. The
 * rules were read out of ptxas 13.0 (doc/warps.md, "Convergence barriers"; tests/converge/). Private to isa/. */
#ifndef LOCKSTEP_ISA_FLOW_YIELD_H
#define LOCKSTEP_ISA_FLOW_YIELD_H

#include "isa/flow/divergence.h"
#include "isa/flow/loops.h"

typedef struct Yields {
  uint8_t *at;       /* of each block: YIELD at its start (it is a loop's header) */
  uint8_t *unproven; /* of each block: lanes that a YIELD or NANOSLEEP let go may still be elsewhere when it begins */
} Yields;

/* No YIELD anywhere, instead of a compute capability. */
enum { NO_YIELDS = 0 };

/* Before short branches are predicated, which ptxas does later: marks the loops that an exit of depends on what a
 * strong load or atomic gave. yields_init() wants the marks; yields_unmark() takes them away. */
void yields_mark(VKernel *vkernel, unsigned capability);
void yields_unmark(VKernel *vkernel);
void yields_init(Yields *yields, const VKernel *vkernel, unsigned capability, const Flow *flow, const Loops *loops,
                 const Divergence *divergence);
void yields_clear(Yields *yields);
/* From the start of `block` on the lanes may be apart, too: finds what follows. */
void yields_part_at(Yields *yields, const VKernel *vkernel, const Divergence *divergence, const Flow *flow,
                    uint32_t block);
/* The state behind instruction `i` of `block`, from that before it. */
bool yields_unproven_behind(const Yields *yields, const VKernel *vkernel, const Divergence *divergence,
                            uint32_t block, uint32_t i, bool unproven);

/* A WARPSYNC of all 32 lanes, or a block barrier of whole warps, that runs under no guard. */
bool is_full_warpsync(const VKernel *vkernel, const VInst *vinst);
bool is_aligned_barrier(const VInst *vinst);

#endif
