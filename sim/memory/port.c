#include "sim/memory/port.h"

#include <glib.h>

#include "sim/memory/mem_clock.h"

void port_rules_init(PortRules *rules, const Machine *machine) {
  *rules = (PortRules){.request = mem_clock_core(machine, machine->memory.port.request_interval),
                       .split = mem_clock_core(machine, machine->memory.port.split_interval),
                       .store = mem_clock_core(machine, machine->memory.port.store_interval),
                       .store_sector = mem_clock_core(machine, machine->memory.port.store_sector_interval),
                       .atomic_turn = mem_clock_core(machine, machine->memory.port.atomic_turn_interval),
                       .cas_turn = mem_clock_core(machine, machine->memory.port.cas_turn_interval),
                       .reply = mem_clock_core(machine, machine->memory.port.reply_interval),
                       .reply_sector = mem_clock_core(machine, machine->memory.port.reply_sector_interval),
                       .merge = mem_clock_core(machine, machine->memory.port.merge_interval),
                       .scheduler = mem_clock_core(machine, machine->memory.port.scheduler_interval),
                       .store_split = mem_clock_core(machine, machine->memory.port.store_split_interval),
                       .queue = machine->memory.port.queue,
                       .credits = machine->memory.port.credits,
                       .merge_lines = machine->memory.port.merge_lines};
}

void port_init(Port *port, const PortRules *rules) {
  *port = (Port){.credits = rules->credits,
                 .held = {PART_NONE, PART_NONE},
                 .stopped = {PART_NONE, PART_NONE},
                 .stopped_part = PART_NONE,
                 .next = PART_NONE};
}

void port_clear(Port *port) {
  g_free(port->credit);
  g_free(port->recent);
  g_free(port->leaves);
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

uint64_t port_takes(const PortRules *rules, MemKind kind, const MemPiece *piece) {
  if (piece->joined)
    return rules->merge;
  uint64_t by_size = kind == MEM_STORE    ? MAX(rules->store, rules->store_sector * piece->sector_count)
                     : kind == MEM_ATOMIC ? port_turn(rules, piece->cas) * piece->turns
                                          : 0;
  return MAX(rules->request, by_size);
}

uint64_t port_part_takes(const PortRules *rules, const Part *part) {
  MemPiece piece = {
      .sector_count = part->sector_count, .turns = part->turns, .joined = part->joined, .cas = part->cas};
  return port_takes(rules, (MemKind)part->kind, &piece);
}

uint64_t port_leave(Port *port, const PortRules *rules, const Part *part, uint64_t milli) {
  uint64_t ready = milli;
  if (port->credit && !part->joined) {
    ready = MAX(milli, port->credit[port->first_credit]);
    port->first_credit = port->first_credit + 1 < rules->credits ? port->first_credit + 1 : 0;
  }
  port->credits -= !part->joined;
  uint64_t start = MAX(ready, port->out_free);
  port->out_free = start + port_part_takes(rules, part);
  return start;
}

uint64_t port_reply(Port *port, const PortRules *rules, const Part *part, uint64_t milli) {
  MemKind kind = (MemKind)part->kind;
  uint64_t start = milli;
  if (kind == MEM_LOAD || (kind == MEM_ATOMIC && !part->unused)) {
    uint64_t by_size = kind == MEM_LOAD ? rules->reply_sector * part->sector_count : 0;
    start = MAX(milli, port->in_free);
    port->in_free = start + MAX(rules->reply, by_size);
  }
  if (part->joined)
    return start;
  if (!port->credit)
    port->credit = g_new0(uint64_t, rules->credits); /* all others have been there from the start */
  uint32_t last = port->first_credit + port->credits;
  port->credit[last < rules->credits ? last : last - rules->credits] = start;
  port->credits++;
  return start;
}

/* When there is room in the queue behind an access that takes a place in it now, until `leaves`. */
static uint64_t take_room(Port *port, const PortRules *rules, uint64_t leaves) {
  if (!rules->queue)
    return 0;
  if (!port->leaves)
    port->leaves = g_new0(uint64_t, rules->queue);
  uint64_t *oldest = &port->leaves[port->leaves_at], room = *oldest;
  *oldest = leaves;
  port->leaves_at = port->leaves_at + 1 < rules->queue ? port->leaves_at + 1 : 0;
  return room;
}

MemNext port_goes_on(Port *port, const PortRules *rules, const MemRequest *request, uint64_t milli) {
  uint64_t sent = request->from;
  if (request->kind == MEM_STORE)
    sent += rules->store_split * request->parts;
  port->sent = MAX(port->sent, sent);
  uint64_t room = take_room(port, rules, MAX(port->out_free, sent));
  return (MemNext){.cycle = milli_cycle(MAX(milli + rules->scheduler, room)), .sent_milli = sent};
}
