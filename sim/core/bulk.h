/* bulk.h - copies in bulk between global and shared memory (UBLKCP, UBLKRED: cp.async.bulk): a unit of each SM that
 * goes on while their threads do something else.
 * Models: a lane hands the unit a copy of so many bytes. It sends the accesses that these take, 512 bytes each, past
 * the L1, in order, at a rate of its own (sm.bulk), and the memory system serves them as any others. Bytes that come
 * to shared memory count at an mbarrier when the last of them is there. Copies out of shared memory, and reductions,
 * are in groups of their lane: a group is over when all bytes have been read. From there on their accesses are stores
 * that fences of the SM wait for. Till the bytes are there, an access of somebody else to the words is a hazard
 * (async_copy.h); a store or another copy to words that are read is one till the lane has waited for the group.
 * For the race detector its lane does what the copy does: it reads when the copy is over, and so it writes to shared
 * memory, which the count at the barrier hands on; to global memory when it waits for the group, and not for its
 * reads alone, or exits.
 * Bytes that come to another block's shared memory (of the cluster) go on to its SM from there (remote.h).
 * Does not model: copies out of another block's shared memory, hazards there, bytes that are expected for each piece
 * of a copy, blocks that exit while their copies read shared memory (what is there by then is copied), waits that
 * take longer for bytes that are written than for bytes that are read (machine code has one instruction for both),
 * several copies side by side in the unit.
 * Ownership: an Sm owns its unit, made for the first copy. */
#ifndef LOCKSTEP_CORE_BULK_H
#define LOCKSTEP_CORE_BULK_H

#include "sim/core/bulk_copy.h"

void bulk_clear(Sm *sm);
/* For a warp that starts: it has none. */
void bulk_reset(Sm *sm, const Warp *warp);
/* Its lanes wait for no more groups. */
void bulk_warp_exits(Sm *sm, const Warp *warp, uint64_t now);
/* When the unit has something to do; WHEEL_NEVER: nothing. */
uint64_t bulk_next(const Sm *sm);
/* Does what is due at `now`. */
void bulk_run(Sm *sm, uint64_t now);
/* The reply to an access of a copy has come. */
void bulk_land(Sm *sm, Flight *flight, uint64_t now);
/* True if the warp waits for a group that isn't over. */
bool bulk_awaited(const Sm *sm, const Warp *warp);
/* Those that aren't over, const BulkCopy *; NULL: there was none. */
const GPtrArray *bulk_under_way(const Sm *sm);
static inline bool bulk_is_busy(const Sm *sm) {
  const GPtrArray *copies = bulk_under_way(sm);
  return copies && copies->len;
}
/* The cycle in which the copy was issued whose accesses the race detector is told now; UINT64_MAX: there is none. */
uint64_t bulk_told_since(const Sm *sm);
/* Tells if the lanes of `issue` access bytes that a copy of their block is about to write, or store to some that it
 * is about to read. */
void bulk_check(const Issue *issue, const uint32_t physical[WARP_LANES], uint32_t bytes, bool stores);

#endif
