/* bulk_copy.h - a copy in bulk that is under way (bulk.h). */
#ifndef LOCKSTEP_CORE_BULK_COPY_H
#define LOCKSTEP_CORE_BULK_COPY_H

#include "sim/core/state.h"

enum { NO_BARRIER = UINT32_MAX };

/* A copy, or (no bytes) the end of a group. */
typedef struct BulkCopy {
  const Inst *inst;
  Launch *launch;
  BackingBuffer *buffer; /* NULL: in the device heap */
  ThreadId thread;       /* of the warp's lane 0 */
  uint64_t age;          /* of the warp */
  uint32_t slot, lane, pc;
  uint32_t group;             /* of the lane: how many have ended before it */
  uint64_t address;           /* in global memory */
  Sm *to;                     /* in whose shared memory: its own, or another one's of the cluster */
  uint32_t physical, barrier; /* ... where; NO_BARRIER: it counts at none */
  uint32_t bytes, sent, landed;
  uint64_t issued;       /* cycle */
  uint64_t begins;       /* in thousandths of a cycle: not before */
  bool read;             /* all bytes have been read: its group may be over */
  bool reads_told, told; /* to the race detector: what it reads; all */
} BulkCopy;

#endif
