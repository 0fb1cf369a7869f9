/* crossbar.h - how far each SM is from each slice, and which half of the L2 an SM belongs to.
 * Models: latency = base + offset of the SM + offset of the slice (seeded, short ways more often; the SMs of a TPC share theirs); ports
 * that some neighbouring slices share; the way between the halves of the L2.
 * Does not model: links that SMs share (GPCs); bandwidth is at the ports of SMs and slices.
 * Time: thousandths of an SM cycle. */
#ifndef LOCKSTEP_MEMORY_CROSSBAR_H
#define LOCKSTEP_MEMORY_CROSSBAR_H

#include "sim/machine/machine.h"

typedef struct Crossbar {
  uint64_t latency, reply_latency, far; /* bases */
  uint32_t *sm_offset, *slice_offset;   /* each way */
  uint8_t *sm_half;
  uint64_t *port_free, port_busy; /* ports of slices: free from when on; what a request takes of one */
  uint32_t port_slices;
} Crossbar;

void crossbar_init(Crossbar *crossbar, const Machine *machine, uint64_t seed);
void crossbar_clear(Crossbar *crossbar);

static inline uint64_t crossbar_there(const Crossbar *crossbar, uint32_t sm, uint32_t slice) {
  return crossbar->latency + crossbar->sm_offset[sm] + crossbar->slice_offset[slice];
}
static inline uint64_t crossbar_back(const Crossbar *crossbar, uint32_t sm, uint32_t slice) {
  return crossbar->reply_latency + crossbar->sm_offset[sm] + crossbar->slice_offset[slice];
}
/* A request comes to a slice at `milli`: when it is through the port that the slice shares with others. */
static inline uint64_t crossbar_pass(Crossbar *crossbar, uint32_t slice, uint64_t milli) {
  if (!crossbar->port_busy)
    return milli;
  uint64_t *free_at = &crossbar->port_free[slice / crossbar->port_slices];
  uint64_t start = milli > *free_at ? milli : *free_at;
  *free_at = start + crossbar->port_busy;
  return start;
}

#endif
