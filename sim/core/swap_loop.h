/* swap_loop.h - atomic operations on shared memory that the hardware hasn't: ptxas for sm_75 to sm_90 makes a loop of
 * them, which loads the word, computes, and compares and swaps until nobody came in between.
 * Those are additions of floats of 16, 32 and 64 bits and of pairs of halves, and all operations of 64 bits but
 * exchange and compare-and-swap. From PTX each is one operation of its lanes, for values, races and proofs; its time
 * is the loop's. Lanes on one word have a round each, and who loads a word before another warp has changed it tries
 * again.
 * Ownership: an Sm owns the times at which words were changed. */
#ifndef LOCKSTEP_CORE_SWAP_LOOP_H
#define LOCKSTEP_CORE_SWAP_LOOP_H

#include "sim/core/exec.h"

/* Whether the operation on shared memory is a loop: in PTX on compute capability 75 and newer. */
bool swap_loop_is(const Issue *issue);
/* Takes the pipe for all rounds, and sets when the warp goes on and the result is there. Returns when the service
 * starts. `physical`: of each lane. */
uint64_t swap_loop_serve(Issue *issue, const uint32_t physical[WARP_LANES], uint32_t bytes);

#endif
