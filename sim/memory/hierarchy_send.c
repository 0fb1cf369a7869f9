/* From the SM to the slice: an access is split, its parts leave the SM's port. */
#include "base/bits.h"
#include "sim/memory/hierarchy.h"
#include "sim/memory/hierarchy_inner.h"
#include "sim/memory/mem_clock.h"

/* ---- as the SM sees it when a warp issues an access ---- */

/* From the SM to the home of the line, and back. */
static uint64_t round_trip(const Hierarchy *h, uint32_t sm, const MemPiece *piece) {
  uint64_t milli =
      crossbar_there(&h->crossbar, sm, piece->slice) + h->latency + crossbar_back(&h->crossbar, sm, piece->slice);
  if (piece->home != h->crossbar.sm_half[sm])
    milli += crossbar_over(&h->crossbar, piece->slice) + crossbar_back_over(&h->crossbar, piece->slice);
  return milli;
}

MemNext hierarchy_goes_on(Hierarchy *h, MemRequest *request, uint64_t time, uint64_t sent_milli) {
  const PortRules *rules = &h->port_rules;
  Port *issue = &h->issue[request->sm];
  uint32_t first_slice = h->crossbar.sm_half[request->sm] * h->map.slices;
  uint64_t takes = 0, way = 0;
  uint32_t joined = 0;
  request->parts = coalescer_split(&h->coalescer, request);
  for (uint32_t i = 0; i < request->parts; i++) {
    MemPiece *piece = &request->piece[i];
    uint64_t line = coalescer_line(&h->coalescer, request, piece);
    piece->slice = (uint16_t)(first_slice + slice_map_index(&h->map, line));
    piece->home = slice_map_home(&h->map, line);
    piece->cas = request->cas;
    if (request->kind == MEM_ATOMIC)
      coalescer_turns(&h->coalescer, request, piece);
    if (request->kind == MEM_STORE && rules->merge_lines)
      piece->joined = port_joins(issue, rules, line);
    joined += piece->joined;
    if (rules->queue)
      takes += port_takes(rules, request->kind, piece);
    if (h->fence_probe)
      way = MAX(way, round_trip(h, request->sm, piece));
  }
  request->way = (uint32_t)way;
  issue->farthest = MAX(issue->farthest, way);
  issue->out_free = MAX(issue->out_free, milli_of(time)) + takes;
  request->from = MAX(milli_of(time), sent_milli);
  MemNext next = port_goes_on(issue, rules, request, milli_of(time));
  next.credits = request->parts - joined;
  return next;
}

void hierarchy_replied(Hierarchy *h, const MemRequest *request) {
  Port *issue = &h->issue[request->sm];
  if (h->fence_probe && request->waited)
    issue->farthest = MAX(issue->farthest, (uint64_t)request->way + request->waited);
}

uint64_t hierarchy_fence(Hierarchy *h, uint32_t sm, uint64_t time, bool system) {
  Port *issue = &h->issue[sm];
  uint64_t leaves = MAX(milli_of(time), MAX(issue->out_free, issue->sent)),
           end = MAX(time + h->fence_least, issue->fenced_until);
  if (h->fence_probe && issue->farthest)
    end = MAX(end, milli_cycle(leaves + issue->farthest) + h->fence_probe);
  if (system)
    end = MAX(end, milli_cycle(leaves) + h->fence_system);
  issue->farthest = 0;
  issue->fenced_until = end;
  return end;
}

/* ---- parts ---- */

void hierarchy_leave(Hierarchy *h, uint32_t index, uint64_t milli) {
  Part *part = &h->queue.pool[index];
  uint64_t start = port_leave(&h->port[part->sm], &h->port_rules, part, milli);
  if (part->kind == MEM_STORE)
    part->more = (uint32_t)(MAX(part->request->from + part->more, start) - start);
  link_stats_add(&h->stats.port[part->sm].out, part->out);
  part_note(&h->queue, index, TRACE_LEFT, start);
  if (part->stage == PART_HOST) {
    link_stats_add(&h->stats.host_out, part->out);
    start = MAX(start, h->host_free);
    h->host_free = start + h->host_busy;
    part_queue_push(&h->queue, index, milli_cycle(start + h->host_latency));
    return;
  }
  part_queue_push(&h->queue, index, milli_cycle(start + crossbar_there(&h->crossbar, part->sm, part->slice)));
}

static bool is_host(Hierarchy *h, uint64_t line) {
  const BackingBuffer *buffer = backing_find(h->backing, line << h->coalescer.line_shift, 1);
  return buffer && buffer->host;
}

/* What goes along with a part to its slice, and with its reply. */
static void set_bytes(const Hierarchy *h, Part *part, const MemRequest *request) {
  uint16_t sectors = (uint16_t)(part->sector_count << h->coalescer.sector_shift);
  uint16_t operands = request->kind == MEM_ATOMIC ? (uint16_t)(bits_count(part->lanes) * request->bytes) : 0;
  bool brings = request->kind != MEM_LOAD && request->queue != MEM_DEQUEUE;
  part->out = !brings ? 0 : request->kind == MEM_STORE ? sectors : operands;
  part->in = request->kind == MEM_LOAD ? sectors : request->unused ? 0 : operands;
}

/* An atomic's last lane is through its unit later than the first. */
static uint32_t lag(const Hierarchy *h, const MemPiece *piece) {
  uint64_t turns = port_turn(&h->port_rules, piece->cas) * (piece->turns - 1u), word = h->coalescer.word_milli;
  return (uint32_t)MAX(turns, piece->busy > word ? piece->busy - word : 0);
}

static void make_part(Hierarchy *h, MemRequest *request, const MemPiece *piece, uint32_t nth, uint64_t time) {
  uint32_t index = part_new(&h->queue), sm = request->sm;
  Part *part = &h->queue.pool[index];
  Port *port = &h->port[sm];
  const PortRules *rules = &h->port_rules;
  uint64_t line = coalescer_line(&h->coalescer, request, piece);
  bool host = request->host && is_host(h, line);
  *part = (Part){.request = request,
                 .line = (uint32_t)line,
                 .number = (uint64_t)sm << 48 | port->parts++,
                 .lanes = piece->lanes,
                 .sectors = piece->sectors,
                 .next = PART_NONE,
                 .busy = piece->busy,
                 .more = (uint32_t)(nth * (request->kind == MEM_STORE ? rules->store_split : rules->split)),
                 .sm = (uint16_t)sm,
                 .slice = piece->slice,
                 .stage = host ? PART_HOST : PART_ARRIVES,
                 .kind = request->kind,
                 .turns = piece->turns,
                 .sector_count = piece->sector_count,
                 .joined = piece->joined,
                 .home = piece->home,
                 .unused = request->unused,
                 .exchange = request->exchange,
                 .cas = request->cas};
  set_bytes(h, part, request);
  h->counters->global_segments += part->sector_count;
  if (request->kind == MEM_ATOMIC) {
    part->more += lag(h, piece);
    h->counters->global_atomics += bits_count(piece->lanes);
  }
  part_note(&h->queue, index, TRACE_SENT, milli_of(time));
  if (port->held.first == PART_NONE && port_has_credit(port, part))
    hierarchy_leave(h, index, milli_of(time));
  else
    part_list_append(&h->queue, &port->held, index);
}

void hierarchy_expect(Hierarchy *h, uint32_t parts) { part_queue_reserve(&h->queue, parts); }

void hierarchy_send(Hierarchy *h, MemRequest *request, uint64_t time) {
  h->counters->global_accesses++;
  request->answered = 0;
  request->waited = 0;
  for (uint32_t i = 0, count = request->parts; i < count; i++)
    make_part(h, request, &request->piece[i], i, time);
}
