/* cached.h - which global accesses use their SM's L1 (sim/memory/l1.h), and what they do to it.
 *
 *   ld, ld.ca, ld.cs, ld.nc, ldu   weak loads: hit, or fetch their sectors (machines with sm.l1.global_loads: cached)
 *   ld.cg, ld.cv, ld.volatile,     go to the L2; a copy stays
 *   ld.relaxed
 *   ld.relaxed.cta, ld.acquire.cta as weak loads (STRONG.SM): a block's threads share the L1
 *   ld.acquire, atom.acquire,      go to the L2, then invalidate the whole L1 (CCTL.IVALL), except at .cta scope
 *   atom.acq_rel
 *   st, st.wb, st.cs               write through; they update or evict the own copy (sm.l1.global_stores)
 *   st.volatile, .relaxed,         write through and evict the own copy's sector; a release is a fence first, but it
 *   .release, .cg, .wt             invalidates nothing
 *   atom, red                      at the L2; evict the own copy's sector
 *   membar.gl, .sys; fence.sc,     wait, then invalidate the whole L1; fence.acq_rel must, since it may stand for an acquire;
 *   fence.acq_rel (not .cta)       .cta scope leaves it: an SM's threads share one L1
 * A kernel's start invalidates the L1 of every SM. A barrier of the block leaves it.
 * A hit may give a value that memory no longer has: the probe `stale_read` hears of it. */
#ifndef LOCKSTEP_CORE_CACHED_H
#define LOCKSTEP_CORE_CACHED_H

#include "sim/core/access.h"

/* True for loads that may hit the L1: weak ones, and those that are strong for a block. */
static inline bool cached_is_load(const Machine *machine, const Inst *inst) {
  bool of_block =
      (inst->sem == SEM_RELAXED || inst->sem == SEM_ACQUIRE) && inst->scope == SCOPE_CTA && inst->cache == CACHE_CA;
  return machine->sm.l1.bytes && machine->sm.l1.global_loads == L1_CACHED && (inst->sem == SEM_WEAK || of_block) &&
         (inst->cache == CACHE_DEFAULT || inst->cache == CACHE_CA || inst->cache == CACHE_CS);
}
/* True for stores and atomics that evict the own copy on every machine. */
static inline bool cached_evicts(const Inst *inst) {
  return op_info[inst->op].flags & OPF_ATOMIC || inst->sem != SEM_WEAK || inst->cache == CACHE_CG ||
         inst->cache == CACHE_WT;
}
/* Such a load: lanes hit the L1, wait for a sector that another load fetches, or fetch theirs. Where all of them hit
 * no access leaves the SM: issue->flight is NULL afterwards. */
void cached_load(Issue *issue, Flight *flight);
/* Its own reply has come, with the sectors that it fetched: those go to the L1, and lanes of others that wait for
 * them get their words. */
void cached_arrive(Sm *sm, Flight *flight, uint64_t now);
/* A store or atomic operation leaves the SM: the same for the own copy. */
void cached_store(Issue *issue, Flight *flight);
/* The L1 forgets all that it holds. */
void cached_forget(Sm *sm);
/* What L1s hold by now goes into the hash of the machine's state. */
void cached_settle_hash(Gpu *gpu);
/* The memory of all L1s, which are gone. */
void cached_free_memory(Gpu *gpu);
/* The run goes on for long: what it has filled of its L1s gets large pages of the host (pages_enlarge()). */
void cached_enlarge(const Gpu *gpu);

/* True for orders that are an acquire, or a release, beyond the block. */
static inline bool cached_is_acquire(const Inst *inst) {
  return inst->scope != SCOPE_CTA && (inst->sem == SEM_ACQUIRE || inst->sem == SEM_ACQ_REL || inst->sem == SEM_SC);
}
static inline bool cached_is_release(const Inst *inst) {
  return inst->scope != SCOPE_CTA && (inst->sem == SEM_RELEASE || inst->sem == SEM_ACQ_REL || inst->sem == SEM_SC);
}

#endif
