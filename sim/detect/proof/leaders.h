/* leaders.h - atomic operations that ptxas lets one lane do for its warp: who is there is voted, the highest of them alone does it, and a
 * shuffle gives the others what it got.
 *
 *   VOTE.ANY R1, PT, PT;  FLO R2, R1;  ISETP.EQ P0, R2, R3 (the lane's number);  @P0 ATOM R4, ...;  SHFL.IDX R4, R4, R2, 0x1f
 *
 * All of it stands in one basic block without a point where lane groups change, so the lanes that vote are those that shuffle, and the
 * lane that the shuffle reads is one in which P0 holds. So the others get what some lane of the warp holds there with P0. Without
 * that a wait for such a result may see anything, and nothing is proved of it. */
#ifndef LOCKSTEP_DETECT_PROOF_LEADERS_H
#define LOCKSTEP_DETECT_PROOF_LEADERS_H

#include "isa/flow/cfg.h"

/* A shuffle that reads the leader's register. */
typedef struct Leader {
  bool known;
  uint8_t predicate; /* holds in the leader, and in it alone */
  int16_t number;    /* the register with the lane's own number */
} Leader;

/* One for each instruction; NULL if no shuffle is one. What they name is wanted up to the shuffle, and so added to `live`. */
Leader *leaders_find(const Kernel *kernel, Liveness *live);

#endif
