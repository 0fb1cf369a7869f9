/* peer_exits.h - accesses to the shared memory of a block of the cluster that may have exited by then: what the last
 * barrier of a cluster is for. PTX leaves open what such an access finds.
 * It is told where the access comes behind the exit; or where it came before, by this schedule, but none of the
 * block's warps knew of it: no barrier and no hand-off orders the two. Generous: any hand-off counts, whatever its
 * scope.
 * Bounded: of each warp the newest access by each instruction. */
#ifndef LOCKSTEP_DETECT_RACE_PEER_EXITS_H
#define LOCKSTEP_DETECT_RACE_PEER_EXITS_H

#include "sim/detect/naming/finding.h"
#include "sim/detect/race/race_order.h"

typedef struct PeerExits PeerExits;

/* Findings are added to `findings`, borrowed. */
PeerExits *peer_exits_new(const Gpu *gpu, GPtrArray *findings);
void peer_exits_free(PeerExits *exits);
/* The warp accesses other blocks' shared memory, at remote_address() of each lane. */
void peer_exits_access(PeerExits *exits, const ProbePoint *point, const WarpOrder *warp, const uint64_t address[32]);
/* A block has exited; `warps`: those of its SM. */
void peer_exits_block_ends(PeerExits *exits, const ProbePoint *point, const WarpOrder *warps);

#endif
