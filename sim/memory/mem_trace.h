/* mem_trace.h - the way of one part of an access through the memory system, told when the part has been performed;
 * only to who follows (memsys_follow()). */
#ifndef LOCKSTEP_MEMORY_MEM_TRACE_H
#define LOCKSTEP_MEMORY_MEM_TRACE_H

#include "sim/memory/mem_request.h"

/* When a part was where, in this order. */
typedef enum {
  TRACE_SENT,      /* the SM's warp sent the access */
  TRACE_LEFT,      /* it left the SM's port */
  TRACE_ARRIVED,   /* it came to a slice */
  TRACE_CROSSED,   /* it left for the other half of the L2 */
  TRACE_HOME,      /* and came there */
  TRACE_SERVED,    /* its turn in the slice that performs it */
  TRACE_FILLED,    /* its line has come from DRAM */
  TRACE_ENTERED,   /* it came to the atomic unit */
  TRACE_TURN,      /* its turn there */
  TRACE_TURN_OVER, /* the end of that turn */
  TRACE_PERFORMED, /* its words are read or changed */
  TRACE_REPLIED,   /* the SM's port has the reply */
  TRACE_STEPS
} TraceStep;

enum { TRACE_NO_SLICE = UINT32_MAX };

typedef struct MemTrace {
  const MemRequest *request;
  uint64_t address; /* the first byte of its line */
  uint32_t lanes;   /* of the part */
  uint32_t slice;   /* that performs it; TRACE_NO_SLICE: the host */
  uint32_t first;   /* that it came to first */
  uint64_t step
      [TRACE_STEPS]; /* thousandths of an SM cycle; 0: not on its way (only TRACE_SENT and TRACE_LEFT can be in cycle 0) */
  bool last;         /* the other parts of the access have been told */
} MemTrace;

#endif
