/* gate.h - how parts come from their SMs into slices that have no room.
 * Models: a gate takes the first part of each SM that waits there by turns, and one that finds no room in its slice
 * stops the gate. With memory.l2.group_queue the SMs of a group (memory.atomic.groups; a CPC of a Hopper GPU) have
 * one gate to each plane of slices (memory.crossbar.planes), and so many places in each slice; a part gives its
 * places back when it is performed, or waits for its line to come from memory. Without, an SM has a gate of its own
 * to each plane. The queue of a slice (memory.l2.queue) is for the parts of all. In an SM a part that waits keeps
 * those behind it to the same plane back.
 * Source: validation/hardware/mem_crowded_h200.csv.
 * Ownership: Gates owns its arrays; parts are the queue's. */
#ifndef LOCKSTEP_MEMORY_GATE_H
#define LOCKSTEP_MEMORY_GATE_H

#include <stdbool.h>

#include "sim/machine/machine.h"
#include "sim/memory/part.h"

/* Where the SMs of a group, or one SM, come to the slices of a plane. */
typedef struct Gate {
  PartList sms;  /* that wait, by PortStop.next; the first one's part finds no room in its slice */
  uint32_t next; /* without groups: in the list of gates that wait for room in one slice */
} Gate;

typedef struct Gates {
  Gate *gate;         /* of each unit (a group, or an SM) and plane */
  uint16_t *unit;     /* of each SM */
  uint16_t *plane;    /* of each slice */
  uint16_t *admitted; /* places of each slice and unit that are taken; NULL without groups */
  PartList *waiting;  /* of each slice, without groups: gates that wait for room there; else NULL */
  uint16_t *heads;    /* of each slice, with groups: gates whose first part goes there; else NULL */
  uint32_t next_unit; /* with groups: the unit that was looked at last when a slice had room */
  uint32_t planes, units, queue, places; /* queue: of a slice; places: of a unit in a slice, with groups */
} Gates;

/* `sm_group`: the group of each SM, of so many. */
void gates_init(Gates *gates, const Machine *machine, const uint16_t *sm_group, uint32_t groups);
void gates_clear(Gates *gates);

/* True if gates wait for room in the slice, which it has when a part leaves its queue. */
static inline bool gates_wait(const Gates *gates, uint32_t slice) {
  return gates->waiting ? gates->waiting[slice].first != PART_NONE : gates->heads[slice] > 0;
}

#endif
