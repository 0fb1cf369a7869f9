/* barrier.h - the named barriers of a block (SEMANTICS, "Block barriers").
 * Models: sync, arrive and reduction; without a count a barrier expects the block's warps that haven't exited, with one
 * it expects that many threads and exits don't arrive; a warp arrives once and counts 32 whatever its mask; the last
 * arrival releases the waiting warps arrive_to_resume cycles later.
 * With lane groups (lane_groups.h) a warp arrives once all its lanes that haven't exited have come. Lanes that the guard
 * leaves out come with their group, unless lanes may arrive at different times (INST_UNALIGNED). */
#ifndef LOCKSTEP_CORE_BARRIER_H
#define LOCKSTEP_CORE_BARRIER_H

#include "sim/core/sm.h"

/* The warp arrives at barrier `id` (instruction issue->inst); waits there (a lane group: stops running) unless it is an arrive. `expected` is the
 * thread count, or 0. False if an earlier arrival gave another count: the caller raises a fault. */
bool barrier_arrive(Issue *issue, uint32_t id, uint32_t expected);
/* Lanes of the issuing warp, which has lane groups, have exited: it may have arrived now. */
void barrier_lanes_exited(Issue *issue);
/* A warp of the block has exited: barriers without a count may be complete now. */
void barrier_warp_exited(Sm *sm, Block *block, uint64_t now);

#endif
