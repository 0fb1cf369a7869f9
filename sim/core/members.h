/* members.h - member masks of WARPSYNC and of what lanes exchange by shuffles, votes, matches, reductions and
 * elections: tells the detectors of lanes that a mask names and that don't come, and of lanes that come and aren't in
 * their own mask. */
#ifndef LOCKSTEP_CORE_MEMBERS_H
#define LOCKSTEP_CORE_MEMBERS_H

#include "sim/core/exec.h"

/* The shuffle, vote, match, reduction or election that the WARPSYNC at `pc` is for, which stands behind it; NULL if
 * it is a bar.warp.sync. */
const Inst *members_exchange(const Kernel *kernel, uint32_t pc);
/* True if the WARPSYNCs at `a` and `b` are for the same operation, and of the same kind: its lanes may come to it at
 * either. */
bool members_alike(const Kernel *kernel, uint32_t a, uint32_t b);
/* `lanes` go on together behind the WARPSYNC at `pc`; members[lane] is the lane's mask, NULL: that of all lanes.
 * `elsewhere`: lanes that needn't be with them. */
void members_tell(const Issue *issue, uint32_t pc, uint32_t lanes, const uint32_t members[WARP_LANES],
                  uint32_t elsewhere);
/* `lanes`, which are together at a WARPSYNC, go on: told once for each mask among them, since it orders the lanes
 * that it names and no others. members[lane] is the lane's mask, NULL: that of all lanes. */
void members_tell_sync(const Issue *issue, uint32_t lanes, const uint32_t members[WARP_LANES]);
/* The running lanes come to an INST_SYNCED. */
void members_tell_synced(const Issue *issue);

#endif
