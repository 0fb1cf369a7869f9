#include "sim/memory/port.h"

#include <glib.h>
#include <string.h>

#include "sim/memory/mem_clock.h"

void port_rules_init(PortRules *rules, const Machine *machine) {
  *rules = (PortRules){.request = mem_clock_core(machine, machine->memory.port.request_interval),
                       .bank = mem_clock_core(machine, machine->memory.port.bank_interval),
                       .store = mem_clock_core(machine, machine->memory.port.store_interval),
                       .store_sector = mem_clock_core(machine, machine->memory.port.store_sector_interval),
                       .store_mask = mem_clock_core(machine, machine->memory.port.store_mask_interval),
                       .store_access = mem_clock_core(machine, machine->memory.port.store_access_interval),
                       .atomic_packet = mem_clock_core(machine, machine->memory.port.atomic_packet_interval),
                       .cas_sector = mem_clock_core(machine, machine->memory.port.cas_sector_interval),
                       .cas_packet = mem_clock_core(machine, machine->memory.port.cas_packet_interval),
                       .atomic_turn = mem_clock_core(machine, machine->memory.port.atomic_turn_interval),
                       .cas_turn = mem_clock_core(machine, machine->memory.port.cas_turn_interval),
                       .bank_turn = mem_clock_core(machine, machine->memory.port.bank_turn_interval),
                       .reply = mem_clock_core(machine, machine->memory.port.reply_interval),
                       .reply_sector = mem_clock_core(machine, machine->memory.port.reply_sector_interval),
                       .merge_sector = mem_clock_core(machine, machine->memory.port.merge_sector_interval),
                       .merge = mem_clock_core(machine, machine->memory.port.merge_interval),
                       .scheduler = mem_clock_core(machine, machine->memory.port.scheduler_interval),
                       .store_split = mem_clock_core(machine, machine->memory.port.store_split_interval),
                       .by_arrival = machine->memory.port.replies == REPLIES_BY_ARRIVAL,
                       .fence = milli_of(machine->memory.fence_port),
                       .fences_by_batch = machine->memory.fence_order == FENCES_BY_BATCH,
                       .queue = machine->memory.port.queue,
                       .read_ahead = machine->memory.port.read_ahead,
                       .schedulers = machine->sm.schedulers,
                       .quad_cas_turns = machine->memory.port.quad_cas_turns,
                       .credits = machine->memory.port.credits,
                       .merged = machine->memory.port.merged_credits,
                       .turns = machine->memory.port.turns,
                       .merge_lines = machine->memory.port.merge_lines};
}

void port_init(Port *port, const PortRules *rules) {
  *port = (Port){.credits = {.count = rules->credits, .size = rules->credits},
                 .merged = {.count = rules->merged, .size = rules->merged},
                 .turns = {.count = rules->turns, .size = rules->turns},
                 .held = {PART_NONE, PART_NONE}};
  for (uint32_t plane = 0; plane < PLANES_MAX; plane++)
    port->stop[plane] = (PortStop){PART_NONE, PART_NONE, {PART_NONE, PART_NONE}, 0};
}

void port_clear(Port *port) {
  g_free(port->credits.at);
  g_free(port->merged.at);
  g_free(port->turns.at);
  g_free(port->recent);
  port_queues_clear(&port->queues);
  port_queues_clear(&port->read);
  g_free(port->slots);
  g_free(port->pieces.piece);
}

MemPiece *port_pieces_add(PortPieces *pieces, MemRequest *request) {
  request->pieces = pieces->count;
  if (G_UNLIKELY(pieces->count + MEM_PIECES > pieces->space)) {
    pieces->space = 2 * (pieces->count + MEM_PIECES);
    pieces->piece = g_renew(MemPiece, pieces->piece, pieces->space);
  }
  return pieces->piece + pieces->count;
}

/* Cycles before `now` are over: their slots become those of later ones. */
static void renew_slots(Port *port, uint64_t now) {
  if (!port->slots || now >= port->slots_from + PORT_SLOTS) {
    port->slots = g_realloc(port->slots, PORT_SLOTS / 8);
    memset(port->slots, 0, PORT_SLOTS / 8);
    port->slots_from = now / 64 * 64;
  }
  for (; port->slots_from + 64 <= now; port->slots_from += 64)
    port->slots[port->slots_from / 64 % (PORT_SLOTS / 64)] = 0;
}

/* The first free cycle from that one on, which isn't free any longer; the last one of the ring, where none is. */
static uint64_t take_cycle(Port *port, uint64_t cycle) {
  uint64_t end = port->slots_from + PORT_SLOTS, taken = (UINT64_C(1) << cycle % 64) - 1;
  for (; cycle < end; cycle = cycle / 64 * 64 + 64, taken = 0) {
    uint64_t *word = &port->slots[cycle / 64 % (PORT_SLOTS / 64)], room = ~(*word | taken);
    if (!room)
      continue;
    *word |= room & -room;
    return cycle / 64 * 64 + (uint32_t)__builtin_ctzll(room);
  }
  return end;
}

uint64_t port_take_slot(Port *port, uint64_t takes, uint64_t milli, uint64_t now) {
  renew_slots(port, now);
  uint64_t cycle = take_cycle(port, milli / MILLI_CYCLE);
  for (port->in_rest += takes - MIN(takes, MILLI_CYCLE); port->in_rest >= MILLI_CYCLE; port->in_rest -= MILLI_CYCLE)
    take_cycle(port, milli / MILLI_CYCLE);
  return MAX(milli, milli_of(cycle));
}

/* Lines that an SM stores to are often a power of two apart. */
static uint32_t like(uint64_t line) { return (uint32_t)line * UINT32_C(0x9e3779b1) >> (32 - PORT_LIKE_BITS); }

bool port_joins(Port *port, const PortRules *rules, uint64_t line) {
  if (!port->recent)
    port->recent = g_new0(uint64_t, rules->merge_lines);
  uint8_t *alike = &port->recent_like[like(line)];
  for (uint32_t at = 0; *alike && at < rules->merge_lines; at++)
    if (port->recent[at] == line + 1)
      return true;
  uint64_t *oldest = &port->recent[port->recent_at];
  if (*oldest)
    port->recent_like[like(*oldest - 1)]--;
  *oldest = line + 1;
  ++*alike;
  port->recent_at = port->recent_at + 1 < rules->merge_lines ? port->recent_at + 1 : 0;
  return false;
}

void credits_make(Credits *credits) { credits->at = g_new0(uint64_t, credits->size); }

/* When there is room in the scheduler's queue behind an access that takes a place in it now, until `leaves`. */
static uint64_t take_room(Port *port, const PortRules *rules, uint32_t scheduler, uint64_t leaves) {
  if (!rules->queue)
    return 0;
  if (!port->queues.leaves)
    port_queues_make(&port->queues, rules->schedulers, rules->queue);
  return port_queues_take(&port->queues, scheduler, leaves);
}

/* When the sources of an access that leaves at `leaves` are read: when the one so many before it has left. */
static uint64_t take_read(Port *port, const PortRules *rules, uint64_t leaves) {
  if (!rules->read_ahead)
    return 0;
  if (!port->read.leaves)
    port_queues_make(&port->read, 1, rules->read_ahead);
  return port_queues_take(&port->read, 0, leaves);
}

MemNext port_goes_on(Port *port, const PortRules *rules, const MemRequest *request, uint64_t milli) {
  uint64_t sent = request->from;
  if (request->kind == MEM_STORE)
    sent += rules->store_split * request->parts;
  port->sent = MAX(port->sent, sent);
  uint64_t leaves = MAX(port->out_free, sent), room = take_room(port, rules, request->scheduler, leaves),
           read = take_read(port, rules, leaves);
  return (MemNext){.cycle = milli_cycle(MAX(milli + rules->scheduler, room)),
                   .sent_milli = sent,
                   .read = milli_cycle(read),
                   .leaves = milli_cycle(leaves)};
}
