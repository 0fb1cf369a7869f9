/* breaks.h - where lanes meet within a round of a loop that some of them leave. Private to isa/.
 *
 * A branch in a loop with a `break` has its post-dominator behind the loop, but those of its lanes that stay in the
 * loop meet before the next round. In the graph of a round the edges out of the loop are left out, and those back to
 * the header go to the round's end, which goes by the header's block. */
#ifndef LOCKSTEP_ISA_FLOW_BREAKS_H
#define LOCKSTEP_ISA_FLOW_BREAKS_H

#include "isa/flow/loops.h"

typedef struct Rounds {
  const Flow *flow;
  const Loops *loops;
  uint32_t *enter, *leave; /* of the tree of loops: block b is node b, the loop of header h is node nblocks + h */
  uint32_t *node_at;       /* the node that has each number in it */
  uint32_t *place; /* of each header: where the post-dominators of its rounds begin; UINT32_MAX: it lies too deep */
  int32_t *innermost;    /* of each header: itself, or the innermost loop around it that has rounds */
  GArray *ipdom;         /* int32_t, by place and number within the loop; number 0 is the round's end */
  GArray *above, *below; /* uint32_t: the tree of them, numbered */
} Rounds;

void rounds_init(Rounds *rounds, const Flow *flow, const Loops *loops);
void rounds_clear(Rounds *rounds);

/* The innermost loop around a block that has rounds, or NO_TARGET. */
int32_t rounds_innermost(const Rounds *rounds, uint32_t block);
/* Where the ways of block `block` that stay in the loop of header `loop` meet; NO_TARGET if there is only one. */
int32_t rounds_meeting(const Rounds *rounds, uint32_t loop, uint32_t block);
/* In each round, all ways from `below` pass `above`. Both lie in the loop. */
bool rounds_postdominates(const Rounds *rounds, uint32_t loop, uint32_t above, uint32_t below);
/* A number that is higher for what comes earlier of two blocks one of which post-dominates the other. */
uint32_t rounds_order(const Rounds *rounds, uint32_t loop, uint32_t block);

/* The blocks of the loop that can be reached from the successors of `begin` before `end`, marked with `stamp` in
 * `seen` and appended to `region`. */
void rounds_region(const Rounds *rounds, uint32_t loop, uint32_t begin, uint32_t end, uint32_t *seen, uint32_t stamp,
                   GArray *region);

#endif
