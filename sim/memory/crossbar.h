/* crossbar.h - how far each SM is from each slice, and which half of the L2 an SM belongs to.
 * Models: latency = base + offset of the SM + offset of the slice (seeded, short ways more often; the SMs of a TPC
 * share theirs) + what the slice and the SM's cluster (GPC) have between them; ports that some neighbouring slices
 * share; a path that the SMs of a TPC share, in order of arrival: each part keeps it busy for a time, there and back
 * together, which delays what comes behind it; the way between the halves of the L2, and the links of that, which
 * neighbouring slices share.
 * The last but one makes different orders possible for SMs of different clusters: with a sum of two offsets alone all
 * SMs see the same.
 * The SMs of a cluster (a GPC) share a way to all slices, which stores take, and one to each slice, which atomics do.
 * Does not model: what loads take of those; the two directions of a TPC's path apart.
 * Time: thousandths of an SM cycle. */
#ifndef LOCKSTEP_MEMORY_CROSSBAR_H
#define LOCKSTEP_MEMORY_CROSSBAR_H

#include "sim/machine/machine.h"
#include "sim/memory/part.h"

typedef struct Crossbar {
  uint64_t latency, reply_latency, far, far_reply, far_atomic; /* bases */
  uint32_t *sm_offset;                             /* each way */
  uint32_t *slice_offset;                          /* each way, of all slices for each cluster */
  uint32_t *far_offset;                            /* each way, by slice of a half */
  uint16_t *sm_cluster;
  uint8_t *sm_half;
  uint32_t slices, half_slices;
  uint64_t *port_free, port_busy; /* ports of slices: free from when on; what a request takes of one */
  uint32_t port_slices;
  uint64_t *path_free; /* paths of TPCs: free from when on; NULL: they take no time */
  uint64_t path_part, path_line, path_load, path_atomic, path_exchange;
  uint32_t tpc_sms, line_sectors, sector_bytes;
  uint64_t *cluster_free; /* ways of clusters that stores take; and those of each to each slice that atomics do */
  uint64_t *cluster_slice_free;
  uint64_t *line_due; /* of each SM, by lines: when the newest part is through the ways of its cluster */
  uint64_t cluster_ports, cluster_byte, cluster_sector, cluster_cas; /* thousandths of a port, and of a cycle */
  bool shares;                                                       /* SMs share any way */
  uint64_t *far_free, far_busy, far_reduction;                       /* the same of links between the halves */
  uint16_t *far_link;                                                /* the link of each slice */
  uint64_t *back_free, far_sector; /* the same links, the way back: what a sector of a load's reply takes */
} Crossbar;

void crossbar_init(Crossbar *crossbar, const Machine *machine, uint64_t seed);
void crossbar_clear(Crossbar *crossbar);

static inline uint64_t crossbar_between(const Crossbar *crossbar, uint32_t sm, uint32_t slice) {
  return crossbar->sm_offset[sm] + crossbar->slice_offset[crossbar->sm_cluster[sm] * crossbar->slices + slice];
}
static inline uint64_t crossbar_there(const Crossbar *crossbar, uint32_t sm, uint32_t slice) {
  return crossbar->latency + crossbar_between(crossbar, sm, slice);
}
static inline uint64_t crossbar_back(const Crossbar *crossbar, uint32_t sm, uint32_t slice) {
  return crossbar->reply_latency + crossbar_between(crossbar, sm, slice);
}
/* From a slice to that of the same lines in the other half; and a reply's way back. */
static inline uint64_t crossbar_over(const Crossbar *crossbar, uint32_t slice) {
  return crossbar->far + crossbar->far_offset[slice % crossbar->half_slices];
}
/* An access is on its way from its slice to the other half since `milli`, and goes as so many: when it is on the
 * link. */
static inline uint64_t crossbar_cross(Crossbar *crossbar, const Part *part, uint32_t count, uint64_t milli) {
  if (!crossbar->far_busy)
    return milli;
  uint64_t *free_at = &crossbar->far_free[crossbar->far_link[part->slice]];
  uint64_t start = milli > *free_at ? milli : *free_at;
  bool reduction = part->kind == MEM_ATOMIC && part_is_short(part);
  *free_at = start + (reduction ? crossbar->far_reduction : crossbar->far_busy) * count;
  return start;
}
static inline uint64_t crossbar_back_over(const Crossbar *crossbar, uint32_t slice) {
  return crossbar->far_reply + crossbar->far_offset[slice % crossbar->half_slices];
}
/* The reply of a load is on its way to the half of its SM since `milli`: how long it waits for the link. */
static inline uint64_t crossbar_wait_back(Crossbar *crossbar, const Part *part, uint64_t milli) {
  uint64_t *free_at = &crossbar->back_free[crossbar->far_link[part->slice]];
  uint64_t start = milli > *free_at ? milli : *free_at;
  *free_at = start + crossbar->far_sector * part->shape.sector_count;
  return start - milli;
}
/* What a part takes of the path of its TPC. */
static inline uint64_t crossbar_path_takes(const Crossbar *crossbar, const Part *part) {
  if (part->kind != MEM_ATOMIC && part->shape.sector_count == crossbar->line_sectors)
    return crossbar->path_line;
  uint64_t first = part->kind == MEM_LOAD    ? crossbar->path_load
                   : part->kind == MEM_STORE ? 0
                   : part->exchange          ? crossbar->path_exchange
                                             : crossbar->path_atomic;
  return part->first && first > crossbar->path_part ? first : crossbar->path_part;
}
/* A part takes the path of its TPC at `milli` or later, behind those that came before, and keeps the next ones
 * waiting. Returns when. Only if paths take time. */
static inline uint64_t crossbar_path(Crossbar *crossbar, const Part *part, uint64_t milli) {
  uint64_t *free_at = &crossbar->path_free[part->sm / crossbar->tpc_sms];
  uint64_t start = milli > *free_at ? milli : *free_at;
  *free_at = start + crossbar_path_takes(crossbar, part);
  return start;
}
/* What an atomic takes of the way of its cluster to its slice. */
static inline uint64_t crossbar_cluster_takes(const Crossbar *crossbar, const Part *part) {
  enum { ADDRESS = 4 };
  uint32_t sectors = part->shape.sector_count;
  uint32_t lanes = part->request->merged ? 1 : (uint32_t)__builtin_popcount(part->lanes);
  bool several_words = sectors > 1 || part->shape.turns < lanes;
  uint64_t least = part->cas && several_words ? crossbar->cluster_cas * (part->shape.turns - part->alone) : 0;
  bool whole = part->shape.turns == sectors && part->out == sectors * crossbar->sector_bytes;
  uint64_t takes = whole ? crossbar->cluster_sector * sectors
                         : crossbar->cluster_byte * (part->out * (1u + part->cas) + ADDRESS * lanes);
  return takes > least ? takes : least;
}
/* Something comes to a way at `milli`, which it takes so long: when it gets it. */
static inline uint64_t crossbar_take_way(uint64_t *free_at, uint64_t milli, uint64_t takes) {
  uint64_t start = milli > *free_at ? milli : *free_at;
  *free_at = start + takes;
  return start;
}
/* The same for the ways of its cluster: that of all that its SMs send, and of atomics that to each slice. `takes`:
 * what it takes of its SM's port. */
static inline uint64_t crossbar_cluster(Crossbar *crossbar, const Part *part, uint64_t takes, uint64_t milli) {
  uint32_t cluster = crossbar->sm_cluster[part->sm];
  if (part->shape.joined)
    return milli;
  if (part->kind != MEM_LOAD && crossbar->cluster_ports)
    milli = crossbar_take_way(&crossbar->cluster_free[cluster], milli, takes * 1000 / crossbar->cluster_ports);
  if (part->kind == MEM_ATOMIC && crossbar->cluster_byte)
    milli = crossbar_take_way(&crossbar->cluster_slice_free[cluster * crossbar->slices + part->slice], milli,
                              crossbar_cluster_takes(crossbar, part));
  return milli;
}
/* The same behind the older parts of its SM to its line, which others of the cluster may have kept waiting where it
 * needn't: what an SM sends to a line never overtakes. Lines that share an entry wait for each other. */
enum { CROSSBAR_LINES = 256 };
static inline uint64_t crossbar_in_order(Crossbar *crossbar, const Part *part, uint64_t milli) {
  enum { SHIFT = 64 - 8 };
  uint64_t entry = part->line * UINT64_C(0x9e3779b97f4a7c15) >> SHIFT;
  uint64_t *newest = &crossbar->line_due[(uint64_t)part->sm * CROSSBAR_LINES + entry];
  milli = milli > *newest ? milli : *newest;
  *newest = milli;
  return milli;
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
