/* hierarchy_inner.h - what the files of the memory system in units share: hierarchy_send.c (an access leaves its SM),
 * hierarchy_gate.c (its parts come to their slices), hierarchy.c (their way through these), hierarchy_reply.c (they
 * are performed, and answered), hierarchy_setup.c (making). */
#ifndef LOCKSTEP_MEMORY_HIERARCHY_INNER_H
#define LOCKSTEP_MEMORY_HIERARCHY_INNER_H

#include "sim/memory/arbiter.h"
#include "sim/memory/atomic_unit.h"
#include "sim/memory/backing.h"
#include "sim/memory/coalescer.h"
#include "sim/memory/crossbar.h"
#include "sim/memory/dram.h"
#include "sim/memory/gate.h"
#include "sim/memory/mem_clock.h"
#include "sim/memory/part.h"
#include "sim/memory/port.h"
#include "sim/memory/recent_loads.h"
#include "sim/memory/slice_hash.h"
#include "sim/memory/tags.h"
#include "sim/memory/untagged.h"

enum { AWAY_LINES = 64, PASSING_LINES = 1024 };
/* Shares of words (hierarchy_pass()) are of pieces of so many bytes, a power of two: sectors of an L1, and lines of
 * the change log, lie in one. Pieces with one key are in one share. */
enum { SHARE_SHIFT = 9, SHARE_KEY_BITS = 14, SHARE_MIXED = UINT8_MAX };

/* Parts of one SM to the lines of one hash that have crossed to the other half, and those that wait here so as not to
 * overtake them. */
typedef struct Away {
  uint32_t crossed, waiting; /* not performed yet; not looked up again yet */
  PartList parked;
} Away;

typedef struct Slice {
  uint64_t free_at;
  uint32_t waiting; /* parts that wait for their turn */
  uint32_t stored;  /* the line of the last store that joined none before, and 1 */
  AtomicUnit atomics;
  Arbiter arbiter;
  Untagged untagged;
} Slice;

/* A list of parts that have been served. */
typedef struct PartShare {
  PartDone *done;
  uint32_t size;
} PartShare;

enum { LATE_LINES = 256, LATE_WORDS = 1024, LATE_WORD = 4 /* bytes */ };

/* Of an SM whose stores may be late: the cycle behind which the next part comes. */
typedef struct LateLines {
  uint64_t newest[LATE_LINES]; /* of a load that is kept: of the newest part to its line */
  uint64_t kept[LATE_LINES];   /* of any part: of the newest load of its line that was kept */
  uint64_t words[LATE_WORDS];  /* of the newest part to one of its words */
} LateLines;

struct Hierarchy {
  MemClient client;
  Counters *counters;
  Backing *backing;
  Coalescer coalescer;
  SliceMap map;
  Crossbar crossbar;
  PortRules port_rules;
  AtomicRules atomic_rules;
  ArbiterRules arbiter_rules; /* groups: 1 with a unit that locks lines alone */
  Gates gates;
  Tags tags;
  Dram dram;
  PartQueue queue;
  const uint8_t *home; /* share of each SM, while they do; else NULL */
  PartShare *share;    /* of each share, room for its list */
  uint32_t shares;
  /* By key: the share whose SMs alone come to these words, and 1; 0: none does; SHARE_MIXED: several do. */
  uint8_t owner[1 << SHARE_KEY_BITS];
  uint64_t parts_seen, tags_seen; /* cycles up to which look_ahead() has been */
  Port *port;
  Port *issue; /* the same as the SM sees it when a warp issues an access: nothing of credits and of stops */
  Slice *slice;
  RecentLoads *recent_loads; /* of each slice; NULL: none count */
  Away *away;                /* AWAY_LINES of each SM; NULL with one half */
  uint32_t *passing;         /* stores and atomics on their way home, PASSING_LINES of each half; NULL with one */
  uint32_t sms, slices, window;
  /* What a part takes of its slice. */
  uint64_t load, load_sector, store, store_sector, store_again, shared_store, atomic;
  uint32_t switch_latency;
  uint64_t pass_reduction; /* what an atomic of one lane and without a result takes on its way to the other half */
  uint64_t pass;           /* what an atomic's sector takes of a slice on its way to the other half; 0: as others */
  uint32_t read_window;    /* cycles; and what the first store behind a load takes more of its slice meanwhile */
  uint64_t write_after_read;
  uint32_t write_back;   /* cycles that a line from memory waits for the one that is written back before */
  uint32_t copy_latency; /* cycles until a copy that a load left can be made void */
  uint64_t invalidate;   /* what a copy in the other half delays a store or an atomic */
  uint64_t latency, atomic_latency, exchange_latency, reduction_latency;
  uint32_t fence_least, fence_probe, fence_system; /* cycles */
  uint32_t quad_latency;                           /* thousandths, of an atomic on 128 bits */
  uint64_t host_latency, host_busy, host_free;
  uint32_t late_stores; /* cycles */
  uint64_t late_seed;
  LateLines *late; /* of each SM; NULL: nothing is late */
  MemStats stats;
};

/* The slice of the line in the other half. */
static inline uint16_t hierarchy_other_slice(const Hierarchy *h, const Part *part) {
  return (uint16_t)(part->slice < h->map.slices ? part->slice + h->map.slices : part->slice - h->map.slices);
}
/* Whose SMs come to the part's words. Returns their key. */
static inline uint32_t hierarchy_note_owner(Hierarchy *h, const Part *part) {
  uint32_t piece = (uint32_t)((uint64_t)part->line << h->coalescer.line_shift >> SHARE_SHIFT);
  uint32_t key = piece * UINT32_C(0x9e3779b1) >> (32 - SHARE_KEY_BITS), own = h->home[part->sm] + 1u;
  h->owner[key] = h->owner[key] == 0 || h->owner[key] == own ? (uint8_t)own : SHARE_MIXED;
  return key;
}
/* The slice to which the part came from its SM. */
static inline uint16_t hierarchy_first_slice(const Hierarchy *h, const Part *part) {
  return part->away ? hierarchy_other_slice(h, part) : part->slice;
}
/* The part, which came from its SM, takes its place in its slice and waits for its turn. */
void hierarchy_enter_slice(Hierarchy *h, uint32_t index, uint64_t cycle);

/* ---- lines and their copies: hierarchy_lines.c ---- */

/* Sectors of a line move between the slice and its channel of DRAM. Returns when they are there, in thousandths. */
uint64_t lines_move_sectors(Hierarchy *h, uint32_t slice, uint64_t line, uint32_t sectors, bool writes,
                            uint64_t milli);
/* A tag for the part's line in that set, which is in the half of its home or isn't. wrote: set if the line that made
 * room is written back; NULL: nobody asks. */
TagLine *lines_claim(Hierarchy *h, const Part *part, uint32_t set, bool at_home, uint64_t cycle, bool *wrote);
/* The line's tag in that set, which isn't in the half of its home: what it has there, or had before anybody came.
 * NULL: nothing. */
TagLine *lines_find_copy(Hierarchy *h, const Part *part, uint32_t set, uint64_t cycle);
/* The part is at home: the copy that the other half has. NULL: it has none. */
TagLine *lines_copy(Hierarchy *h, const Part *part, uint64_t cycle);
/* After an atomic or a store at home the other half has no copy any longer. True if it had one. */
bool lines_drop_copy(Hierarchy *h, const Part *part, uint64_t cycle);
/* How many stores and atomics of that half (the one that isn't the line's home) to the line, or to one like it, are
 * on their way home. */
static inline uint32_t *lines_passing(const Hierarchy *h, const Part *part) {
  return &h->passing[!part->shape.home * PASSING_LINES + part->line % PASSING_LINES];
}
/* A copy for the readers of the other half, whose home has been asked. None if a store passes the reply: it would be
 * old. */
void lines_keep_copy(Hierarchy *h, const Part *part, uint64_t cycle);

/* ---- gates: hierarchy_gate.c ---- */

/* The part has arrived, and has to wait. */
void gate_stop(Hierarchy *h, uint32_t index, uint64_t cycle);
/* The part is its SM's first one, and is to try again. */
void gate_resume(Hierarchy *h, uint32_t index, uint64_t cycle);
/* A part has left the queue of that slice, for whose room gates wait. */
void gate_admit(Hierarchy *h, uint32_t slice, uint64_t cycle);
/* Of gate_leave(): the part gives its place back. */
void gate_give_place(Hierarchy *h, uint32_t index, uint64_t cycle);
/* An atomic takes a place for each of its packets. */
static inline uint16_t gate_places(const Part *part) {
  return part->kind != MEM_ATOMIC ? 1 : part->several ? part->several : part->shape.turns;
}
static inline bool gate_has_room(const Hierarchy *h, const Part *part) {
  const Gates *gates = &h->gates;
  if (gates->admitted && gates->admitted[part->slice * gates->units + gates->unit[part->sm]] >= gates->places)
    return false;
  return h->slice[part->slice].waiting < gates->queue;
}
/* The part has been let into its slice: its places on the way there are free, as its SM knows a window later. */
static inline void gate_free_way(Hierarchy *h, const Part *part, uint64_t cycle) {
  uint32_t turns = port_part_turns(&h->port_rules, part);
  if (turns)
    part_queue_free_places(&h->queue, part->sm, turns, milli_of(cycle + h->window));
}
static inline void gate_take_place(Hierarchy *h, Part *part, uint64_t cycle) {
  gate_free_way(h, part, cycle);
  if (!h->gates.admitted)
    return;
  part->admitted = true;
  h->gates.admitted[part->slice * h->gates.units + h->gates.unit[part->sm]] += gate_places(part);
}
/* True if the part, which has arrived, takes a place at once: nothing waits at its gate, and there is room. */
static inline bool gate_lets_in(Hierarchy *h, Part *part, uint64_t cycle) {
  const Gates *gates = &h->gates;
  uint32_t plane = gates->plane[part->slice];
  if (G_UNLIKELY(h->port[part->sm].stop[plane].part != PART_NONE) ||
      G_UNLIKELY(gates->gate[gates->unit[part->sm] * gates->planes + plane].sms.first != PART_NONE) ||
      G_UNLIKELY(!gate_has_room(h, part)))
    return false;
  gate_take_place(h, part, cycle);
  return true;
}
/* The part is performed in this cycle, or waits from now on for its line to come from memory. */
static inline void gate_leave(Hierarchy *h, uint32_t index, uint64_t cycle) {
  if (part_at(&h->queue, index)->admitted)
    gate_give_place(h, index, cycle);
}

/* Parts that wait in the port of their SM leave it at `milli` or later, in order, as far as there are credits. */
void hierarchy_leave_held(Hierarchy *h, Port *port, uint64_t milli);

#endif
