/* barrier.h - the named barriers of a block (SEMANTICS, "Block barriers").
 * Models: sync, arrive and reduction; without a count a barrier expects the block's warps that haven't exited, with
 * one it expects that many threads and exits don't arrive; a warp arrives once and counts 32 whatever its mask; the
 * last arrival releases the waiting warps arrive_to_resume cycles later. Arrivals are counted one by one,
 * arrival_interval apart.
 * With lane groups (lane_groups.h) a warp arrives once all its lanes that haven't exited have come. Lanes that the
 * guard leaves out come with their group, unless lanes may arrive at different times (INST_UNALIGNED). */
#ifndef LOCKSTEP_CORE_BARRIER_H
#define LOCKSTEP_CORE_BARRIER_H

#include <glib.h>

#include "sim/core/cluster.h"
#include "sim/core/sm.h"

/* Two rules that the proof of deadlocks shares. True if the thread counts of two arrivals (0: none given) go together
 * in a block of so many warps: they are equal, or one names the whole block by its number of threads and the other
 * leaves the count out; the barrier then expects the block. */
static inline bool barrier_counts_agree(uint32_t block_warps, uint32_t a, uint32_t b) {
  return a == b || (MIN(a, b) == 0 && MAX(a, b) == block_warps * WARP_LANES);
}
/* True if the barrier lets its warps go while these warps of the block haven't exited. */
static inline bool barrier_completes(const Barrier *barrier, uint32_t unfinished) {
  return barrier->arrived &&
         (barrier->expected ? barrier->threads >= barrier->expected : (unfinished & ~barrier->arrived) == 0);
}
/* Warps of the block that haven't exited. */
static inline uint32_t barrier_unfinished(const Block *block) {
  return ~block->finished & (block->warps == 32 ? UINT32_MAX : (1u << block->warps) - 1);
}
/* What a BAR of this machine may name. */
static inline bool barrier_exists(const Machine *machine, uint32_t id) { return id < machine->sm.barrier.count; }
static inline bool barrier_counts_warps(uint32_t threads) { return threads && threads % WARP_LANES == 0; }

/* The warp arrives at barrier `id` (instruction issue->inst); waits there (a lane group: stops running) unless it is
 * an arrive. `expected` is the thread count, or 0. False if an earlier arrival gave another count: the caller raises
 * a fault. */
bool barrier_arrive(Issue *issue, uint32_t id, uint32_t expected);
/* Lanes of the issuing warp, which has lane groups, have exited: it may have arrived now. */
void barrier_lanes_exited(Issue *issue);
/* CLUSTERBAR: lanes of the issuing warp wait at the barrier of their cluster, where they have arrived. */
void barrier_cluster_wait(Issue *issue);
/* The barrier of the cluster is complete at `now`: warps of all its blocks go on. `self`: what is issued then, or
 * NULL. */
void barrier_cluster_complete(Cluster *cluster, uint64_t now, Issue *self);
/* A warp of the block has exited: barriers without a count may be complete now. */
void barrier_warp_exited(Sm *sm, Block *block, uint64_t now);

#endif
