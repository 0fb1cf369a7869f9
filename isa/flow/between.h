/* between.h - whether any block of a set may lie between two blocks of a flow graph, without looking at each of them.
 * Private to isa/.
 * Blocks are ordered so that edges lead forwards; those of a cycle have one number. What lies on a path from a to b
 * has a number between theirs, though not all that has one lies on a path: an answer "no" is certain. */
#ifndef LOCKSTEP_ISA_FLOW_BETWEEN_H
#define LOCKSTEP_ISA_FLOW_BETWEEN_H

#include "isa/flow/flow.h"

typedef struct Between {
  uint32_t *order; /* of each block */
  uint32_t *count; /* of each number: how often its blocks are in the set */
  uint32_t *next;  /* of each number: itself if it counts, or one that is nearer to the next one that does */
  uint32_t numbers;
  bool linked; /* there was a question */
} Between;

void between_init(Between *between, const Flow *flow);
void between_clear(Between *between);
/* Puts a block into the set once more. Only before the first question. */
void between_add(Between *between, uint32_t block);
/* Takes it out once. */
void between_remove(Between *between, uint32_t block);
/* False: no path from `from` to `to` (NO_TARGET: to anywhere) has a block of the set. Nearly constant time. */
bool between_any(Between *between, uint32_t from, int32_t to);

#endif
