/* From the SM to the slice: an access is split, its parts leave the SM's port. */
#include "base/bits.h"
#include "sim/engine/rng.h"
#include "sim/memory/hierarchy.h"
#include "sim/memory/hierarchy_inner.h"
#include "sim/memory/l1_banks.h"
#include "sim/memory/mem_clock.h"

enum { BANKS = 32 /* of words */ };

/* ---- as the SM sees it when a warp issues an access ---- */

/* From the SM to the home of the line, and back. */
static uint64_t round_trip(const Hierarchy *h, uint32_t sm, const MemPiece *piece) {
  uint64_t milli =
      crossbar_there(&h->crossbar, sm, piece->slice) + h->latency + crossbar_back(&h->crossbar, sm, piece->slice);
  if (piece->shape.home != h->crossbar.sm_half[sm])
    milli += crossbar_over(&h->crossbar, piece->slice) + crossbar_back_over(&h->crossbar, piece->slice);
  return milli;
}

/* Where the pieces of a request go, and what they take on their way out. */
typedef struct Ways {
  uint64_t takes, longest;
  uint32_t credits, merged, turns;
} Ways;

/* True if all lanes of an atomic are on one bank, and bring a result each: they leave the SM more slowly then. */
static bool is_banked(const MemRequest *request) {
  uint32_t rest = request->mask & (request->mask - 1);
  if (request->unused || request->merged || !rest)
    return false;
  uint64_t first = request->address[__builtin_ctz(request->mask)];
  for (; !request->together && rest; rest &= rest - 1)
    if ((request->address[__builtin_ctz(rest)] ^ first) & (4 * BANKS - 1))
      return false;
  return true;
}

enum { QUAD_BYTES = 16 };

/* Of an atomic. */
static void take_turns(const Hierarchy *h, const MemRequest *request, MemPiece *piece, bool banked) {
  piece->shape.quad_or_whole = request->bytes == QUAD_BYTES;
  piece->shape.banked = banked;
  coalescer_turns(&h->coalescer, request, piece);
  if (request->rides) {
    piece->shape.joined = true;
    piece->shape.turns = 0;
    piece->busy = 0;
    piece->packets = (MemPackets){0};
  }
}

/* Of a store: its lanes write all bytes of its sectors. */
static bool writes_whole(const Hierarchy *h, const MemRequest *request, const MemPiece *piece) {
  uint32_t lanes = piece->lanes;
  if (bits_count(lanes) * request->bytes != (uint32_t)piece->shape.sector_count << h->coalescer.sector_shift)
    return false;
  if (request->run)
    return true;
  uint64_t first = UINT64_MAX, end = 0, all = 0; /* the smallest accesses of the line, by bit */
  for (; lanes; lanes &= lanes - 1) {
    uint64_t address = request->address[__builtin_ctz(lanes)];
    uint32_t unit = (uint32_t)(address & ((1u << h->coalescer.line_shift) - 1)) / request->bytes;
    first = MIN(first, address);
    end = MAX(end, address + request->bytes);
    all |= UINT64_C(1) << unit % 64;
  }
  /* No two are the same: so many that lie within 64 units have as many bits. */
  return end - first <= 64 * (uint64_t)request->bytes &&
         bits_count((uint32_t)all) + bits_count((uint32_t)(all >> 32)) == bits_count(piece->lanes);
}

static Ways find_ways(const Hierarchy *h, const MemRequest *request, MemPiece pieces[], Port *issue) {
  const PortRules *rules = &h->port_rules;
  uint32_t sm = request->sm, first_slice = h->crossbar.sm_half[sm] * h->map.slices, parts = request->parts;
  MemKind kind = request->kind;
  bool joins = kind == MEM_STORE && rules->merge_lines,
       banked = kind == MEM_ATOMIC && rules->bank_turn && is_banked(request);
  Ways ways = {0};
  uint64_t lines = UINT64_MAX; /* that have slice and home in common */
  uint16_t slice = 0, home = 0;
  uint32_t sector = 1u << h->coalescer.sector_shift;
  for (uint32_t i = 0; i < parts; i++) {
    MemPiece *piece = &pieces[i];
    uint64_t line = coalescer_line(&h->coalescer, request, piece);
    bool other = line >> h->map.same_shift != lines;
    piece->line = (uint32_t)line;
    if (other) {
      lines = line >> h->map.same_shift;
      slice = (uint16_t)(first_slice + slice_map_index(&h->map, line));
      home = slice_map_home(&h->map, line) & 1;
    }
    piece->slice = slice;
    piece->shape.home = home & 1;
    if (kind == MEM_ATOMIC)
      take_turns(h, request, piece, banked);
    if (kind == MEM_STORE) {
      piece->shape.quad_or_whole = (h->map.halves > 1 || rules->store_mask) && writes_whole(h, request, piece);
      piece->packets = (MemPackets){.several = parts == 1};
    }
    if (joins && port_joins(issue, rules, line)) {
      piece->shape.joined = true;
      piece->shape.turns = (uint16_t)(bits_count(piece->lanes) * request->bytes / sector);
    }
    ways.credits += port_credits(rules, kind, piece->shape);
    ways.merged += port_merged(rules, kind, piece->shape);
    ways.turns += port_turns(rules, kind, piece->shape);
    if (rules->queue)
      ways.takes += port_takes(rules, kind, piece->shape, piece->packets, request->cas);
    if (other && h->fence_probe)
      ways.longest = MAX(ways.longest, round_trip(h, sm, piece));
  }
  return ways;
}

MemNext hierarchy_goes_on(Hierarchy *h, MemRequest *request, uint64_t time, uint64_t sent_milli) {
  Port *issue = &h->issue[request->sm];
  MemPiece *pieces = port_pieces_add(&issue->pieces, request);
  request->parts = coalescer_split(&h->coalescer, request, pieces);
  Ways ways = find_ways(h, request, pieces, issue);
  port_pieces_keep(&issue->pieces, request);
  request->way = (uint32_t)ways.longest;
  issue->farthest = MAX(issue->farthest, ways.longest);
  issue->out_free = MAX(issue->out_free, milli_of(time)) + ways.takes;
  request->from = MAX(milli_of(time), sent_milli);
  request->probes = issue->probes;
  request->probes_until = issue->probes_until;
  issue->probes = issue->probes_until = 0;
  MemNext next = port_goes_on(issue, &h->port_rules, request, milli_of(time));
  if (mem_request_is_posted(request))
    issue->posted_free = MAX(issue->out_free, issue->sent);
  next.takes_milli = ways.takes;
  next.credits = ways.credits;
  next.merged = ways.merged;
  next.turns = ways.turns;
  return next;
}

void hierarchy_replied(Hierarchy *h, const MemRequest *request) {
  Port *issue = &h->issue[request->sm];
  if (h->fence_probe && request->waited)
    issue->farthest = MAX(issue->farthest, (uint64_t)request->way + request->waited);
}

uint32_t hierarchy_gpc(const Hierarchy *h, uint32_t sm) { return h->crossbar.sm_cluster[sm]; }

uint64_t hierarchy_fence(Hierarchy *h, uint32_t sm, uint64_t time, bool system) {
  Port *issue = &h->issue[sm];
  bool by_batch = h->port_rules.fences_by_batch;
  uint64_t out = by_batch ? issue->posted_free : MAX(issue->out_free, issue->sent), leaves = MAX(milli_of(time), out),
           end = time + h->fence_least;
  if (h->fence_probe && issue->farthest)
    end = MAX(end, milli_cycle(leaves + issue->farthest) + h->fence_probe);
  if (system)
    end = MAX(end, milli_cycle(leaves) + h->fence_system);
  if (by_batch) /* hierarchy_send_probes() says when it begins */
    return end;
  end = MAX(end, issue->fenced_until);
  issue->farthest = 0;
  issue->fenced_until = end;
  return end;
}

void hierarchy_send_probes(Hierarchy *h, uint32_t sm, uint64_t start, bool of_all) {
  Port *issue = &h->issue[sm];
  if (!h->port_rules.fences_by_batch || !issue->farthest)
    return;
  issue->farthest = of_all ? 0 : issue->farthest;
  issue->out_free = MAX(issue->out_free, milli_of(start)) + h->port_rules.fence;
  issue->probes += h->port_rules.fence;
  issue->probes_until = MAX(issue->probes_until, milli_of(start)) + h->port_rules.fence;
}

/* ---- parts ---- */

/* The cycle in which the newest part to one of its words comes. */
static uint64_t *late_word(LateLines *late, uint64_t address) {
  return &late->words[rng_mix(address / LATE_WORD) % LATE_WORDS];
}

/* When a part to these words arrives that would in cycle `due`: behind those of its SM before to one of them. */
static uint64_t late_in_order(LateLines *late, const Part *part, uint64_t due) {
  const MemRequest *request = part->request;
  for (unsigned turn = 0; turn < 2; turn++)
    for (uint32_t rest = part->lanes; rest; rest &= rest - 1) {
      uint64_t first = request->address[__builtin_ctz(rest)];
      for (uint64_t at = first; at < first + MAX(request->bytes, LATE_WORD); at += LATE_WORD) {
        uint64_t *until = late_word(late, at);
        if (turn)
          *until = due;
        else
          due = MAX(due, *until + 1);
      }
    }
  return due;
}

/* When a part arrives that would in cycle `due`: late itself, perhaps, and behind those of its SM before to its
 * words. A load that leaves the line in an L1 comes behind all to that line, and they come behind it: what is kept
 * would lack a store of the SM itself. */
static uint64_t be_late(Hierarchy *h, const Part *part, uint64_t due) {
  LateLines *late = &h->late[part->sm];
  uint32_t line = part->line % LATE_LINES;
  uint64_t drawn = rng_mix(h->late_seed ^ rng_mix(part->number));
  bool stores = part->kind == MEM_STORE || (part->kind == MEM_ATOMIC && part->unused);
  if (stores && drawn & 1)
    due += (drawn >> 32) % h->late_stores;
  due = MAX(due, (part->request->keeps ? late->newest[line] : late->kept[line]) + 1);
  due = late_in_order(late, part, due);
  late->newest[line] = MAX(late->newest[line], due);
  if (part->request->keeps)
    late->kept[line] = due;
  return due;
}

/* The part has left its SM, and comes to a slice or to the host in cycle `due`. */
static inline void come(Hierarchy *h, uint32_t index, Part *part, uint64_t due, PartBox *box) {
  part->due = due;
  if (h->home)
    part_box_add(box, index, due);
  else
    part_queue_enter(&h->queue, index, part->sm, due);
}

/* `box`: where it is kept while slices serve beside SMs. */
static inline void leave(Hierarchy *h, uint32_t index, uint64_t milli, PartBox *box) {
  Part *part = part_at(&h->queue, index);
  uint64_t start = port_leave(&h->port[part->sm], &h->port_rules, part, milli);
  if (part->kind == MEM_STORE)
    part->more = (uint32_t)(MAX(part->request->from + part->more, start) - start);
  link_stats_add(&h->port[part->sm].out, part->out);
  part_note(&h->queue, index, TRACE_LEFT, start);
  if (part->stage == PART_HOST) {
    link_stats_add(&h->stats.host_out, part->out);
    start = MAX(start, h->host_free);
    h->host_free = start + h->host_busy;
    come(h, index, part, milli_cycle(start + h->host_latency), box);
    return;
  }
  uint64_t due = milli_cycle(start + crossbar_there(&h->crossbar, part->sm, part->slice));
  come(h, index, part, G_UNLIKELY(h->late != NULL) ? be_late(h, part, due) : due, box);
}

void hierarchy_leave_held(Hierarchy *h, Port *port, uint64_t milli) {
  /* the first one isn't looked at without need: it isn't in the host's cache */
  for (uint32_t first; (first = port->held.first) != PART_NONE && port_may_have(port, &h->port_rules);) {
    Part *part = part_at(&h->queue, first);
    if (!port_has_credit(port, &h->port_rules, part))
      return;
    port->held.first = part->next;
    port->held_joined -= part->shape.joined;
    if (part->next != PART_NONE)
      __builtin_prefetch(part_at(&h->queue, part->next), 1);
    leave(h, first, milli, &h->queue.side[part->sm].answered);
  }
}

static bool is_host(Hierarchy *h, uint64_t line) {
  const BackingBuffer *buffer = backing_find(h->backing, line << h->coalescer.line_shift, 1);
  return buffer && buffer->host;
}

/* What goes along with a part to its slice, and with its reply. */
static void set_bytes(const Hierarchy *h, Part *part, const MemRequest *request) {
  uint16_t sectors = (uint16_t)(part->shape.sector_count << h->coalescer.sector_shift);
  if (request->kind != MEM_ATOMIC) {
    part->out = request->kind == MEM_STORE ? sectors : 0;
    part->in = request->kind == MEM_LOAD ? sectors : 0;
    return;
  }
  uint16_t operands = (uint16_t)((request->merged ? 1 : bits_count(part->lanes)) * request->bytes);
  part->out = request->queue != MEM_DEQUEUE ? operands : 0;
  part->in = request->unused ? 0 : operands;
}

/* An atomic's last lane is through its unit later than the first. */
static uint32_t lag(const Hierarchy *h, const MemPiece *piece, bool cas) {
  if (piece->shape.joined)
    return 0;
  uint64_t turn = port_turn(&h->port_rules, cas, piece->shape.banked, piece->shape.quad_or_whole),
           turns = port_atomic(&h->port_rules, piece->shape, piece->packets, cas) - turn,
           word = h->coalescer.word_milli;
  return (uint32_t)MAX(turns, piece->busy > word ? piece->busy - word : 0);
}

/* What all parts of a request have alike, but for the first one's mark. */
static uint16_t common_states(const MemRequest *request, bool first) {
  Part part;
  part.states = 0;
  part.stage = PART_ARRIVES;
  part.kind = request->kind;
  part.unused = request->unused;
  part.exchange = request->exchange;
  part.cas = request->cas;
  part.first = first;
  part.admitted = false;
  return part.states;
}

/* A part of the request. Returns its number in the pool. Field by field: a copy of one that was just written makes
 * the host wait. */
static inline uint32_t make_part(Hierarchy *h, MemRequest *request, const MemPiece *piece, uint64_t number,
                                 uint16_t states, Counters *counters) {
  uint32_t index = part_new(&h->queue, request->sm);
  Part *part = part_at(&h->queue, index);
  part->request = request;
  part->line = piece->line;
  part->set = tags_are_there(&h->tags) ? tags_set(&h->tags, piece->slice, slice_map_order(&h->map, piece->line)) : 0;
  part->number = number;
  part->lanes = piece->lanes;
  part->sectors = piece->sectors;
  part->next = PART_NONE;
  part->busy = piece->busy;
  part->more = 0;
  part->sm = (uint16_t)request->sm;
  part->slice = piece->slice;
  part->shape = piece->shape;
  part->several = piece->packets.several;
  part->alone = piece->packets.alone;
  part->states = states;
  part->at_home = h->map.halves == 1 || piece->shape.home == h->crossbar.sm_half[request->sm];
  if (request->host && is_host(h, piece->line))
    part->stage = PART_HOST;
  set_bytes(h, part, request);
  counters->global_segments += part->shape.sector_count;
  if (request->kind == MEM_ATOMIC) {
    part->more = lag(h, piece, request->cas) + (piece->shape.quad_or_whole ? h->quad_latency : 0);
    counters->global_atomics += bits_count(piece->lanes);
  }
  return index;
}

/* What comes back goes to registers bank by bank. Returns how much later than at once. */
static uint32_t banks_take(const Hierarchy *h, const MemRequest *request, const MemPiece *piece) {
  uint32_t lanes[32];
  for (uint32_t i = 0; i < request->parts; i++)
    lanes[i] = piece[i].lanes;
  return (uint32_t)h->port_rules.bank * (l1_banks_words(request->address, lanes, request->parts, request->bytes) - 1);
}

/* The part waits for a credit, or behind those that do. */
static void hold(Hierarchy *h, Port *port, uint32_t index) {
  port->held_joined += part_at(&h->queue, index)->shape.joined;
  part_list_append(&h->queue, &port->held, index);
}

void hierarchy_send(Hierarchy *h, MemRequest *request, uint64_t time, Counters *counters) {
  Port *port = &h->port[request->sm];
  PortPieces *pieces = &h->issue[request->sm].pieces;
  const MemPiece *piece = pieces->piece + request->pieces;
  uint32_t apart = request->kind == MEM_STORE ? (uint32_t)h->port_rules.store_split : 0;
  uint32_t banks =
      request->kind == MEM_LOAD && request->parts > 1 && h->port_rules.bank ? banks_take(h, request, piece) : 0;
  uint64_t milli = milli_of(time), number = (uint64_t)request->sm << 48 | port->parts;
  uint16_t first = common_states(request, true), rest = common_states(request, false);
  counters->global_accesses++;
  request->answered = 0;
  request->waited = 0;
  if (request->probes)
    port->out_free = MAX(port->out_free + request->probes, request->probes_until);
  for (uint32_t i = 0, count = request->parts; i < count; i++) {
    uint32_t index = make_part(h, request, &piece[i], number + i, i ? rest : first, counters);
    part_at(&h->queue, index)->more += i * apart + banks;
    part_note(&h->queue, index, TRACE_SENT, milli);
    if (port->held.first == PART_NONE && port_has_credit(port, &h->port_rules, part_at(&h->queue, index)))
      leave(h, index, milli, &h->queue.side[request->sm].sent);
    else
      hold(h, port, index);
  }
  port->parts += request->parts;
  port_pieces_drop(pieces);
}
