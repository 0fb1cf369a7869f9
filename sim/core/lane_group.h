/* lane_group.h - lanes of a warp that are at one place, and all of a warp's that don't run (lane_groups.h).
 * Time: cycles of the SM clock. */
#ifndef LOCKSTEP_CORE_LANE_GROUP_H
#define LOCKSTEP_CORE_LANE_GROUP_H

#include "sim/core/state.h"
#include "sim/core/sync_records.h"

typedef enum {
  GROUP_READY,       /* can issue from cycle `from` on */
  GROUP_YIELDED,     /* likewise, but has given way */
  GROUP_AT_SYNC,     /* at a BSYNC: until all other members of the barrier wait there or have exited */
  GROUP_AT_WARPSYNC, /* until all lanes of its mask are at a WARPSYNC of that mask or have exited */
  GROUP_AT_MEETING,  /* at a WARPSYNC.ALL: until all lanes are there or have exited */
  GROUP_AT_BARRIER,  /* at a block barrier */
} GroupState;

typedef struct LaneGroup {
  uint64_t from;   /* READY, YIELDED: the first cycle in which it can issue */
  uint64_t beside; /* YIELDED: the same, at least, while others wait at a WARPSYNC */
  bool was_beside; /* YIELDED: others waited at a WARPSYNC when it gave way */
  uint32_t pc;     /* READY: its next instruction; else the one it waits at */
  uint32_t mask;   /* its lanes */
  uint32_t state;  /* GroupState */
  uint32_t
      which;     /* AT_SYNC: convergence barrier; AT_WARPSYNC, AT_MEETING: mask of lanes; AT_BARRIER: block barrier */
  uint32_t mode; /* AT_WARPSYNC: its WarpsyncMode */
  uint32_t yields; /* AT_SYNC: YIELDs and NANOSLEEPs of lanes that it waits for */
  uint32_t parts;  /* AT_WARPSYNC: how many groups have come to that place, one after another */
  bool left;       /* READY: others have gone apart since, or it is one of several that went apart at once */
  bool due;        /* AT_SYNC: it needn't wait any longer for those who have given way, but others are before it */
} LaneGroup;

/* It may be the next to run. */
static inline bool lane_group_can_run(const LaneGroup *group) {
  return group->state == GROUP_READY || group->state == GROUP_YIELDED || group->due;
}

typedef struct LaneGroups {
  LaneGroup group[WARP_LANES]; /* those that don't run, in the order in which they came to be as they are */
  uint32_t count;
  uint64_t runs_from;                /* the first cycle in which the running group can issue, as it was chosen */
  SyncRecords sync;                  /* who takes part in convergence barriers */
  uint32_t comes_back[WARP_LANES];   /* of lanes in a collective: where they go on behind it */
  uint32_t marked;                   /* lanes that have given way and haven't run since: a BSYNC may let them off */
  uint32_t gathering;                /* block barriers that lanes have come to, but not yet all of the warp: */
  uint32_t come[BLOCK_BARRIERS];     /* who has come */
  uint32_t executed[BLOCK_BARRIERS]; /* those of them that the guard let execute it */
  uint32_t come_pc[BLOCK_BARRIERS];  /* where the last came to it */
  uint32_t owes[2]; /* lanes that have arrived at the barrier of their cluster and not waited since: by the phase, of
                     * Block.cluster_phase, modulo 2 */
} LaneGroups;

#endif
