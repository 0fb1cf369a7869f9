/* loops.h - dominators and natural loops of a flow graph. Private to isa/. */
#ifndef LOCKSTEP_ISA_FLOW_LOOPS_H
#define LOCKSTEP_ISA_FLOW_LOOPS_H

#include "isa/flow/flow.h"

/* A loop goes by the block of its header. Loops with several entries aren't found. */
typedef struct Loops {
  uint32_t nblocks;
  int32_t *idom;                       /* immediate dominator, NO_TARGET for the first block and unreachable ones */
  uint32_t *enter, *leave;             /* of the dominator tree: b dominates c if enter[b] <= enter[c] < leave[b] */
  int32_t *loop_of;                    /* the innermost loop around each block, or NO_TARGET */
  int32_t *parent;                     /* of each header: the next loop around it, or NO_TARGET */
  uint32_t *outer_enter, *outer_leave; /* of the tree of loops, by header */
  GArray *headers;                     /* uint32_t, inner loops before those around them */
} Loops;

/* Numbers a tree given by each node's parent (NO_TARGET: a root) depth first, so that a is above b, or b itself, if
 * enter[a] <= enter[b] < leave[a]. */
void loops_number_tree(const int32_t *parent, uint32_t nodes, uint32_t *enter, uint32_t *leave);

void loops_init(Loops *loops, const Flow *flow);
void loops_clear(Loops *loops);
bool loops_dominates(const Loops *loops, uint32_t above, uint32_t below);
bool loops_contains(const Loops *loops, uint32_t header, uint32_t block);

#endif
