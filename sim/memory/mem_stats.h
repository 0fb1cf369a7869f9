/* mem_stats.h - what the units of a memory system have done since the run began, as plain numbers: each unit counts
 * its own (memsys.c, hierarchy.c), and reports read them (memsys_stats()).
 * Bytes are those of data, as the links move them: sectors of what is loaded or stored, operands and results of
 * atomic operations one for each lane. What asks for data, or acknowledges a store, is a message without bytes.
 * Once all replies have come: parts that SMs sent = parts that came to slices + those that went to the host. */
#ifndef LOCKSTEP_MEMORY_MEM_STATS_H
#define LOCKSTEP_MEMORY_MEM_STATS_H

#include <stdint.h>

#include "sim/machine/machine.h"

/* A direction of a link. */
typedef struct LinkStats {
  uint64_t messages, bytes;
} LinkStats;

/* A slice of the L2, a partition of a chip without one, or the plain server. Times in thousandths of an SM cycle. */
typedef struct SliceStats {
  uint64_t arrived;                /* parts that came from SMs */
  uint64_t crossed;                /* parts that came from the other half */
  uint64_t loads, stores, atomics; /* parts performed here */
  uint64_t operations;             /* lanes of those atomics */
  uint64_t hits, misses, pending;  /* in the tags; pending: the line was on its way already */
  uint64_t full;                   /* times that a part found no room, and its SM waited */
  uint64_t waited;                 /* of all parts together: for their turn in the slice and in the atomic unit */
  uint32_t waiting, peak;          /* parts that wait so now; the most at a time (not kept by the plain server) */
  uint64_t busy;                   /* with parts */
  uint64_t atomic_busy;            /* some access has its turn in the atomic unit, or some line is locked */
  uint64_t hostages, hostage;      /* loads and stores that waited with the atomics on their line, and for how long */
  LinkStats in, out;               /* from and to SMs */
} SliceStats;

/* A channel of DRAM. */
typedef struct ChannelStats {
  LinkStats read, written;
  uint64_t rows; /* times that another row was opened */
  uint64_t busy; /* thousandths that its bus takes */
} ChannelStats;

/* The port of an SM. */
typedef struct PortStats {
  LinkStats out, in;
  uint64_t stopped; /* cycles that it was stopped by a full slice */
} PortStats;

typedef enum { MEM_IS_SERVER, MEM_IS_PARTITIONS, MEM_IS_L2 } MemForm;

typedef struct MemStats {
  MemForm form;
  uint32_t slices, sms, channels;
  SliceStats *slice;
  PortStats *port;             /* of each SM */
  ChannelStats *channel;       /* none with the plain server */
  LinkStats away, home;        /* between the halves of the L2: to a line's home, and what comes back */
  LinkStats host_out, host_in; /* of the host link */
} MemStats;

void mem_stats_init(MemStats *stats, const Machine *machine);
void mem_stats_clear(MemStats *stats);

static inline void link_stats_add(LinkStats *link, uint64_t bytes) {
  link->messages++;
  link->bytes += bytes;
}

/* One part more waits. */
static inline void slice_stats_queue(SliceStats *slice) {
  if (++slice->waiting > slice->peak)
    slice->peak = slice->waiting;
}

/* One part more waits, for so long; who takes it from the queue counts down `waiting`. One that has its turn at once
 * is no queue. */
static inline void slice_stats_wait(SliceStats *slice, uint64_t milli) {
  slice->waited += milli;
  if (++slice->waiting > slice->peak && milli)
    slice->peak = slice->waiting;
}

#endif
