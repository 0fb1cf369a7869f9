/* port.h - the port of an SM to the crossbar, each way.
 * Models: parts leave in order, one each so many cycles (memory.port), and take a credit with them, which their reply
 * brings back. An atomic takes one place on its way for each of its turns in the atomic unit instead
 * (memory.port.turns), which are free again when it has been let into its slice (gate.h). A part that finds too few
 * waits, and all behind it. Replies come in one each so many cycles. Stores to one of the lines
 * that the SM stored to last join the store before, and take a credit of their own kind instead, if these are counted
 * (memory.port.merged_credits). Probes of fences take the way out before the
 * SM's next access (memory.fence_port). An SM whose part finds its slice full is
 * stopped: what it sent behind that to slices of the same plane waits, too (gate.h).
 * Accesses of one scheduler come to the port some cycles apart, and only when there is room in its queue; the parts
 * of one store come some cycles apart, with those of other warps in between. Who has to wait does that before the
 * access is issued, so the scheduler chooses among all its warps then. That looks at what accesses take of the way
 * out; an SM with memory.port.credits parts under way holds its warps itself (sm.c).
 * Time: thousandths of an SM cycle.
 * Ownership: owns its rings; parts are the caller's. */
#ifndef LOCKSTEP_MEMORY_PORT_H
#define LOCKSTEP_MEMORY_PORT_H

#include <stdbool.h>

#include "sim/machine/machine.h"
#include "sim/memory/mem_stats.h"
#include "sim/memory/part.h"
#include "sim/memory/port_queue.h"

/* The same of all ports. */
typedef struct PortRules {
  uint64_t request, bank, store, store_sector, store_mask, store_access, atomic_turn, atomic_packet, cas_turn,
      cas_sector, cas_packet, bank_turn, reply, reply_sector, merge, merge_sector, scheduler, store_split, fence;
  uint32_t credits, turns, merged, merge_lines, queue, read_ahead, schedulers, quad_cas_turns;
  bool by_arrival, fences_by_batch;
} PortRules;

enum { PORT_LIKE_BITS = 8, PORT_SLOTS = 2048, PLANES_MAX = 8 };

/* What an SM has sent to the slices of a plane, and what waits for room. */
typedef struct PortStop {
  uint32_t part;   /* the first one, which found no room, or is to try again; PART_NONE: there is none */
  uint32_t next;   /* in the list of SMs that wait at one gate */
  PartList behind; /* parts that wait behind the first one, in order */
  uint64_t from;   /* since it waits at the gate */
} PortStop;

/* Those that are back or on their way back, a ring: when each can be used. `at`: NULL, all have been there from the
 * start. */
typedef struct Credits {
  uint64_t *at;
  uint32_t first, count, size;
} Credits;

/* Pieces of the accesses that its SM has issued and that haven't been sent yet, as they were split. */
typedef struct PortPieces {
  MemPiece *piece;
  uint32_t count, space;
  uint32_t unsent; /* accesses */
} PortPieces;

/* Room for those of one access more. */
MemPiece *port_pieces_add(PortPieces *pieces, MemRequest *request);
/* It has so many, as its `parts` say. */
static inline void port_pieces_keep(PortPieces *pieces, const MemRequest *request) {
  pieces->count += request->parts;
  pieces->unsent++;
}
/* It has been sent. */
static inline void port_pieces_drop(PortPieces *pieces) {
  if (--pieces->unsent == 0)
    pieces->count = 0;
}

typedef struct Port {
  uint64_t out_free, in_free;
  LinkStats out, in;
  /* by_arrival: cycles of the way in that are taken, a ring from `slots_from` on, NULL until there is one; and what
   * replies took beyond whole cycles. */
  uint64_t *slots, slots_from, in_rest;
  uint64_t sent;          /* as its SM sees it: when all stores so far have come to it */
  uint64_t parts;         /* sent so far: their numbers */
  Credits credits, turns; /* turns: places on the way that atomics take */
  Credits merged;         /* those of stores that join others */
  PartList held;          /* parts that wait for a credit, or behind those that do */
  uint32_t held_joined;   /* how many of them need none */
  uint64_t *recent;       /* lines stored to last, a ring, and 1 */
  uint32_t recent_at;
  uint8_t recent_like[1 << PORT_LIKE_BITS]; /* how many of them there are of each kind of lines (port.c) */
  /* The longest way there and back of what was sent or answered since the last fence, with the wait there; 0: nothing
   * was. */
  uint64_t farthest;
  uint64_t fenced_until;   /* cycle: the fences so far are over */
  uint64_t posted_free;    /* stores and reductions so far have left */
  uint64_t probes, probes_until; /* that the next access has before it (MemRequest) */
  PortPieces pieces;
  PortQueues queues, read; /* of each scheduler; of all, those whose sources have been read */
  /* The slices' own, who may run beside SMs that send. */
  PortStop stop[PLANES_MAX];
} Port;

/* What a turn of an atomic takes; `banked`: its lanes are all on one bank; `quad`: it is of 128 bits. */
static inline uint64_t port_turn(const PortRules *rules, bool cas, bool banked, bool quad) {
  uint64_t turn = cas ? rules->cas_turn : rules->atomic_turn, one = banked ? MAX(turn, rules->bank_turn) : turn;
  return cas && quad ? one * rules->quad_cas_turns : one;
}

void port_rules_init(PortRules *rules, const Machine *machine);
void port_init(Port *port, const PortRules *rules);
void port_clear(Port *port);

/* True if a store to that line joins one before. It is the last one then. */
bool port_joins(Port *port, const PortRules *rules, uint64_t line);
/* Of an atomic: each of its packets of several lanes has its sectors and what says which words there; one of a lane
 * is shorter. A lane of a compare-and-swap that is alone has a packet of its own. */
static inline uint64_t port_atomic(const PortRules *rules, MemShape shape, MemPackets packets, bool cas) {
  uint64_t turn = port_turn(rules, cas, shape.banked, shape.quad_or_whole);
  if (!cas)
    return turn * shape.turns + rules->atomic_packet * packets.several;
  if (!packets.several || shape.quad_or_whole)
    return turn * shape.turns;
  uint32_t others = shape.turns - packets.alone;
  return (turn + rules->cas_packet) * packets.alone + MAX(turn, rules->cas_sector) * others +
         (others ? rules->cas_packet * packets.several : 0);
}
/* What a piece of an access takes of the way out; `cas`: of a compare and swap. */
static inline uint64_t port_takes(const PortRules *rules, MemKind kind, MemShape shape, MemPackets packets,
                                  bool cas) {
  if (shape.joined)
    return kind == MEM_ATOMIC ? 0 : MAX(rules->merge, rules->merge_sector * shape.turns);
  if (kind == MEM_LOAD)
    return rules->request;
  if (kind == MEM_ATOMIC)
    return MAX(rules->request, port_atomic(rules, shape, packets, cas));
  uint64_t mask = shape.quad_or_whole ? 0 : rules->store_mask,
           takes = MAX(rules->store, rules->store_sector * shape.sector_count + mask);
  return MAX(rules->request, packets.several ? MAX(rules->store_access, takes) : takes);
}
static inline uint64_t port_part_takes(const PortRules *rules, const Part *part) {
  MemPackets packets = {.several = part->several & 63, .alone = part->alone & 63};
  return port_takes(rules, (MemKind)part->kind, part->shape, packets, part->cas);
}
/* How many credits a part takes; and places on its way. One that needs more than there are takes all. */
static inline uint32_t port_credits(const PortRules *rules, MemKind kind, MemShape shape) {
  return kind == MEM_ATOMIC && rules->turns ? 0 : !shape.joined;
}
static inline uint32_t port_turns(const PortRules *rules, MemKind kind, MemShape shape) {
  return kind == MEM_ATOMIC && !shape.joined ? MIN(MAX(1u, shape.turns), rules->turns) : 0;
}
static inline uint32_t port_part_turns(const PortRules *rules, const Part *part) {
  return port_turns(rules, (MemKind)part->kind, part->shape);
}
static inline uint32_t port_merged(const PortRules *rules, MemKind kind, MemShape shape) {
  return rules->merged && kind == MEM_STORE && shape.joined;
}
static inline uint32_t port_part_merged(const PortRules *rules, const Part *part) {
  return port_merged(rules, (MemKind)part->kind, part->shape);
}
/* True if the part finds all that it needs. */
static inline bool port_has_credit(const Port *port, const PortRules *rules, const Part *part) {
  return port->credits.count >= port_credits(rules, (MemKind)part->kind, part->shape) &&
         port->turns.count >= port_part_turns(rules, part) && port->merged.count >= port_part_merged(rules, part);
}
/* False if none of those that are held can leave, whatever it is. */
static inline bool port_may_have(const Port *port, const PortRules *rules) {
  return port->credits.count || port->merged.count || (port->held_joined && !rules->merged) ||
         (rules->turns && port->turns.count);
}
/* Takes so many, which there must be. Returns when the last one can be used. */
static inline uint64_t credits_take(Credits *credits, uint32_t count) {
  uint64_t ready = 0;
  for (uint32_t i = 0; credits->at && i < count; i++) {
    ready = MAX(ready, credits->at[credits->first]);
    credits->first = credits->first + 1 < credits->size ? credits->first + 1 : 0;
  }
  credits->count -= count;
  return ready;
}
/* Makes the ring. */
void credits_make(Credits *credits);
/* So many are back at `milli`. */
static inline void credits_return(Credits *credits, uint32_t count, uint64_t milli) {
  if (G_UNLIKELY(!credits->at))
    credits_make(credits);
  for (; count; count--) {
    uint32_t last = credits->first + credits->count++;
    credits->at[last < credits->size ? last : last - credits->size] = milli;
  }
}
/* The part leaves at `milli` or later, with all that it needs. Returns when. */
static inline uint64_t port_leave(Port *port, const PortRules *rules, const Part *part, uint64_t milli) {
  uint64_t credit = credits_take(&port->credits, port_credits(rules, (MemKind)part->kind, part->shape)),
           turns = credits_take(&port->turns, port_part_turns(rules, part)),
           merged = credits_take(&port->merged, port_part_merged(rules, part));
  uint64_t start = MAX(MAX(milli, port->out_free), MAX(MAX(credit, merged), turns));
  port->out_free = start + port_part_takes(rules, part);
  return start;
}
/* A reply that takes the way in so long comes at `milli`, where replies go on in the order in which they come, though
 * they aren't told in that: all that are told from now on come in cycle `now` or later. Returns when it does. */
uint64_t port_take_slot(Port *port, uint64_t takes, uint64_t milli, uint64_t now);
/* A reply comes at `milli`; it takes the way in if it has data. Returns when the SM has it. Its credits are
 * back then. */
static inline uint64_t port_reply(Port *port, const PortRules *rules, const Part *part, uint64_t milli) {
  MemKind kind = (MemKind)part->kind;
  uint64_t start = milli;
  if (kind == MEM_LOAD || (kind == MEM_ATOMIC && !part->unused && !part->shape.joined)) {
    uint64_t by_size = kind == MEM_LOAD ? rules->reply_sector * part->shape.sector_count : 0;
    uint64_t takes = MAX(rules->reply, by_size);
    if (rules->by_arrival) {
      start = port_take_slot(port, takes, milli, part->due);
    } else {
      start = MAX(milli, port->in_free);
      port->in_free = start + takes;
    }
  }
  uint64_t through = start + (kind == MEM_ATOMIC ? part->more : 0); /* its last lane */
  credits_return(&port->credits, port_credits(rules, kind, part->shape), through);
  credits_return(&port->merged, port_part_merged(rules, part), through);
  return start;
}

/* A warp's access, whose parts are known, has been handed over at `milli`: when the next one can be. */
MemNext port_goes_on(Port *port, const PortRules *rules, const MemRequest *request, uint64_t milli);

#endif
