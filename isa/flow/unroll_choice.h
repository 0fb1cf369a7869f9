/* unroll_choice.h - whether ptxas unrolls a loop, and how. Private to isa/. */
#ifndef LOCKSTEP_ISA_FLOW_UNROLL_CHOICE_H
#define LOCKSTEP_ISA_FLOW_UNROLL_CHOICE_H

#include "isa/flow/counted.h"
#include "isa/flow/divergence.h"

/* By how many rounds, if they aren't a constant; and how long a round is that a long constant number becomes. */
enum { UNROLL_FACTOR = 4, UNROLL_ROUND = 300 };

typedef enum { STAYS, WHOLLY, BY_ROUNDS, BY_FOUR } Manner;

/* What is asked. The atomic operations that become one of a warp are marked (merge.h). */
typedef struct Choice {
  const VKernel *vkernel;
  unsigned capability; /* 75, 86, 90 ... */
  const Counting *counting;
  const Divergence *divergence;
} Choice;

Manner choice_make(const Choice *choice, const CountedLoop *loop);

/* Whether anybody but the branch back reads the comparison's predicate. */
bool choice_wants_compare(const Choice *choice, const CountedLoop *loop);

/* BY_FOUR compares the counter with bounds some rounds before the loop's: the type for that, since a counter that
 * goes up to what it must not equal is below it, and the last bound that has such ones. */
uint8_t choice_type_ahead(const VInst *compare, const CountedLoop *loop);
uint64_t choice_last_bound(const CountedLoop *loop, uint8_t type);

#endif
