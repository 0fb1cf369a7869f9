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

void port_return_credit(Port *port, const PortRules *rules, uint64_t milli) {
  if (!port->credit)
    port->credit = g_new0(uint64_t, rules->credits); /* all others have been there from the start */
  uint32_t last = port->first_credit + port->credits;
  port->credit[last < rules->credits ? last : last - rules->credits] = milli;
  port->credits++;
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
