/* locks.h - accesses to locks in the tags of L1 and L2 (sim/memory/lock_queue.h), on machines that have them.
 *
 *   ATOM.CAS.LOCK d, [m], b, c   tries: where the word is b and the lane is let in, the word becomes c, and d is b;
 *                                else d is the word, or c: a lane that isn't let in finds a word that isn't b
 *   RED.EXCH.LOCK [m], b         frees: the word becomes b
 *
 * __lock_acquire(p) of CUDA is the first, with 0 and 1, and says whether d is 0; __lock_release(p) the second, with
 * 0. Both are relaxed, as atomicCAS() and atomicExch() are: data need __threadfence() behind the one and before the
 * other. A try that finds nothing is like a weak compare-and-swap: it may fail although the word says "free", since
 * another SM is next, say. A lock word that is changed otherwise while lanes use it as a lock isn't followed.
 * Effects: what the L1 answers happens at issue, the rest when the memory system performs the access. */
#ifndef LOCKSTEP_CORE_LOCKS_H
#define LOCKSTEP_CORE_LOCKS_H

#include "sim/core/state.h"

/* Without such locks (no scenario starts then) the two are what their names say first. */
static inline bool locks_are_meant(const Gpu *gpu, const Inst *inst) { return gpu->locks && inst->flags & INST_LOCK; }
/* Lanes try or free locks: those that the L1 has the answer for, to be performed at once; flight->earliest: when they
 * have it. The others go to memory. Sets flight->refused. */
uint32_t locks_answer(Issue *issue, Flight *flight);
/* Such lanes have come to the L2 and are to be performed now: sets flight->refused. */
void locks_arrive(Gpu *gpu, Flight *flight, uint32_t lanes, uint64_t time);

#endif
