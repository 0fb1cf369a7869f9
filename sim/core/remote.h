/* remote.h - accesses to the shared memory of other blocks of a cluster (distributed shared memory).
 * Models: such an access leaves the SM by a way of its own, one after another (sm.cluster.line_interval), comes to
 * the other block's SM after half of what sm.cluster.latency has beyond sm.shared.latency, takes the pipe of shared
 * memory there, and has its effect then; its reply takes the other half. It is an access under way (flight.h), and
 * fences wait for it as for those to global memory. Bytes of copies in bulk go the same way, past the pipe.
 * Does not model: how far apart two SMs of a GPC are, ways that SMs share, bytes without a value (what is stored
 * counts as one, what is loaded too).
 * An address of it, as probes and flights have it, is remote_address(): the SM, and the byte in its shared memory.
 * Ownership: an Sm owns its unit, made for the first block of a cluster of several. */
#ifndef LOCKSTEP_CORE_REMOTE_H
#define LOCKSTEP_CORE_REMOTE_H

#include "sim/core/state.h"

enum { REMOTE_SM_SHIFT = 32 };

/* A byte of shared memory of SM number `sm`. */
static inline uint64_t remote_address(uint32_t sm, uint32_t physical) {
  return (uint64_t)(sm + 1) << REMOTE_SM_SHIFT | physical;
}
/* An address of shared memory as a probe tells it: whose it is; `own`: the number of the SM that accesses. */
static inline uint32_t remote_sm(uint64_t address, uint32_t own) {
  return address >> REMOTE_SM_SHIFT ? (uint32_t)(address >> REMOTE_SM_SHIFT) - 1 : own;
}

/* Where an address of shared memory of a cluster lies: rank above CLUSTER_RANK_SHIFT, and the byte. */
typedef enum { REMOTE_FINE, REMOTE_MISALIGNED, REMOTE_BEYOND, REMOTE_NO_BLOCK } RemoteFault;
typedef struct RemotePlace {
  Sm *sm;
  const Block *block;
  uint32_t physical;
} RemotePlace;
/* `offset`: in the window of shared memory. */
RemoteFault remote_find(const struct Cluster *cluster, uint32_t offset, uint32_t bytes, RemotePlace *place);

/* An SM whose block is of a cluster of several. */
void remote_prepare(Sm *sm);
void remote_clear(Sm *sm);
/* The lanes of issue->mask access shared memory of other blocks, `offset` bytes into the window each: issue->flight.
 * False after a fault. */
bool remote_access(Issue *issue, MemKind kind, const uint32_t offset[WARP_LANES]);
/* Words of a copy in bulk that go on from the SM they have come to: from word `first` of the other one's shared
 * memory on. `come` does what they are for when they are there. */
typedef struct RemoteWords {
  void (*come)(const struct RemoteWords *words, uint64_t now);
  struct BulkCopy *copy;
  Sm *from, *to;
  uint32_t first, count;
  uint32_t value[];
} RemoteWords;
/* They leave now; takes `words`, of g_malloc(). */
void remote_pass(RemoteWords *words, uint64_t now);
/* When the next access comes to the SM; WHEEL_NEVER: none is on its way. */
uint64_t remote_next(const Sm *sm);
/* Those that are there by `now` have their effect. */
void remote_run(Sm *sm, uint64_t now);

#endif
