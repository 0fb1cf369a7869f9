/* On the way into a slice: a part that finds no room waits at a gate (gate.h). */
#include "sim/memory/hierarchy.h"
#include "sim/memory/hierarchy_inner.h"
#include "sim/memory/mem_clock.h"

static uint32_t gate_number(const Gates *gates, uint32_t sm, uint32_t slice) {
  return gates->unit[sm] * gates->planes + gates->plane[slice];
}

/* ---- lists ---- */

/* The first SM's part finds no room. Without groups whoever leaves the slice looks for the gates that wait there. */
static void wait_for_room(Gates *gates, uint32_t number, uint32_t slice) {
  if (!gates->waiting) {
    gates->heads[slice]++;
    return;
  }
  PartList *list = &gates->waiting[slice];
  gates->gate[number].next = PART_NONE;
  if (list->first == PART_NONE)
    list->first = number;
  else
    gates->gate[list->last].next = number;
  list->last = number;
}

/* The SM waits at the gate with its first part. */
static void wait_at_gate(Hierarchy *h, uint32_t index, uint64_t cycle) {
  const Part *part = part_at(&h->queue, index);
  uint32_t sm = part->sm, slice = part->slice, number = gate_number(&h->gates, sm, slice),
           plane = h->gates.plane[slice];
  Gate *gate = &h->gates.gate[number];
  h->counters->l2_full++;
  h->stats.slice[slice].full++;
  h->port[sm].stop[plane].from = cycle;
  h->port[sm].stop[plane].next = PART_NONE;
  bool first = gate->sms.first == PART_NONE;
  if (first)
    gate->sms.first = sm;
  else
    h->port[gate->sms.last].stop[plane].next = sm;
  gate->sms.last = sm;
  if (first)
    wait_for_room(&h->gates, number, slice);
}

/* ---- steps ---- */

/* An SM's first part goes on; the next one comes to its slice as much later as it left later. */
static void go_on(Hierarchy *h, PortStop *stop, uint64_t cycle) {
  uint32_t first = stop->part, next = stop->behind.first;
  uint64_t apart = MAX(milli_cycle(port_part_takes(&h->port_rules, part_at(&h->queue, first))), 1u);
  stop->part = next;
  if (next != PART_NONE) {
    Part *part = part_at(&h->queue, next);
    stop->behind.first = part->next;
    if (part->next != PART_NONE)
      __builtin_prefetch(part_at(&h->queue, part->next), 1);
    if (tags_are_there(&h->tags))
      tags_prefetch(&h->tags, part->set);
    part->stage = PART_RESUMES;
    part_queue_push(&h->queue, next, MAX(part->due, cycle + apart));
  }
  gate_take_place(h, part_at(&h->queue, first), cycle);
  hierarchy_enter_slice(h, first, cycle);
}

/* The first SM's part may find room now: it goes on, and those of the SMs behind it, until one finds none. */
static void open_gate(Hierarchy *h, uint32_t number, uint64_t cycle) {
  Gate *gate = &h->gates.gate[number];
  uint32_t plane = number % h->gates.planes;
  for (uint32_t sm; (sm = gate->sms.first) != PART_NONE;) {
    PortStop *stop = &h->port[sm].stop[plane];
    const Part *part = part_at(&h->queue, stop->part);
    if (!gate_has_room(h, part)) {
      wait_for_room(&h->gates, number, part->slice);
      return;
    }
    gate->sms.first = stop->next;
    h->stats.port[sm].stopped += cycle - stop->from;
    go_on(h, stop, cycle);
  }
}

/* With groups: a gate whose first part goes to the slice, if it finds room there. */
static void try_gate(Hierarchy *h, uint32_t number, uint32_t slice, uint64_t cycle) {
  uint32_t sm = h->gates.gate[number].sms.first;
  if (sm == PART_NONE)
    return;
  const Part *part = part_at(&h->queue, h->port[sm].stop[number % h->gates.planes].part);
  if (part->slice != slice || !gate_has_room(h, part))
    return;
  h->gates.heads[slice]--;
  open_gate(h, number, cycle);
}

/* With groups: the slice has room. Units take turns. */
static void open_gates(Hierarchy *h, uint32_t slice, uint64_t cycle) {
  for (uint32_t i = 0; i < h->gates.units && h->slice[slice].waiting < h->gates.queue; i++) {
    uint32_t *next = &h->gates.next_unit;
    *next = *next + 1 < h->gates.units ? *next + 1 : 0;
    try_gate(h, *next * h->gates.planes + h->gates.plane[slice], slice, cycle);
  }
}

void gate_stop(Hierarchy *h, uint32_t index, uint64_t cycle) {
  const Part *part = part_at(&h->queue, index);
  PortStop *stop = &h->port[part->sm].stop[h->gates.plane[part->slice]];
  if (stop->part != PART_NONE) {
    part_list_append(&h->queue, &stop->behind, index);
    return;
  }
  stop->part = index;
  wait_at_gate(h, index, cycle);
}

void gate_resume(Hierarchy *h, uint32_t index, uint64_t cycle) {
  const Part *part = part_at(&h->queue, index);
  const Gate *gate = &h->gates.gate[gate_number(&h->gates, part->sm, part->slice)];
  if (gate->sms.first == PART_NONE && gate_has_room(h, part))
    go_on(h, &h->port[part->sm].stop[h->gates.plane[part->slice]], cycle);
  else
    wait_at_gate(h, index, cycle);
}

void gate_admit(Hierarchy *h, uint32_t slice, uint64_t cycle) {
  if (h->gates.heads) {
    open_gates(h, slice, cycle);
    return;
  }
  PartList *list = &h->gates.waiting[slice];
  while (list->first != PART_NONE && h->slice[slice].waiting < h->gates.queue) {
    uint32_t number = list->first;
    list->first = h->gates.gate[number].next;
    open_gate(h, number, cycle);
  }
}

void gate_give_place(Hierarchy *h, uint32_t index, uint64_t cycle) {
  Part *part = part_at(&h->queue, index);
  uint32_t slice = hierarchy_first_slice(h, part), number = gate_number(&h->gates, part->sm, slice);
  part->admitted = false;
  h->gates.admitted[slice * h->gates.units + h->gates.unit[part->sm]] -= gate_places(part);
  if (G_UNLIKELY(h->gates.heads[slice]))
    try_gate(h, number, slice, cycle);
}
