/* arbiter.h - who has the next turn in the atomic unit of a slice, where groups of SMs take turns.
 * Models: SMs whose TPCs belong to one group (a CPC of a GPC) share a way into the slice, in order of arrival; the
 * groups take turns, one access each (memory.atomic.groups). Each cluster (GPC) has as many groups; the first TPCs
 * of a cluster are the first group, and so on.
 * Source: validation/hardware/mem_crowd_h200.csv: of 132 SMs that try one word at once, 24 are answered 1.38 times
 * as often as the others, as if six groups of 24 had four SMs and the rest six. mem_try_h200.csv and
 * mem_winners_h200.csv: of the first 8 blocks, 6 share a way and 2 another.
 * Ownership: owns its lists; parts belong to a PartQueue, and are in none of its cycles meanwhile. */
#ifndef LOCKSTEP_MEMORY_ARBITER_H
#define LOCKSTEP_MEMORY_ARBITER_H

#include "sim/machine/machine.h"
#include "sim/memory/part.h"

/* The same of all units. */
typedef struct ArbiterRules {
  uint32_t groups; /* 1: the unit serves in order of arrival, and nobody waits here */
  uint16_t *sm_group;
} ArbiterRules;

typedef struct Arbiter {
  PartList *group; /* NULL until somebody has waited */
  uint32_t waiting;
  uint32_t served; /* the group that had the last turn */
  uint32_t begun;  /* parts that were chosen and don't have their turn yet: one, or loads that have it together */
} Arbiter;

/* `sm_cluster`: the cluster of each SM. */
void arbiter_rules_init(ArbiterRules *rules, const Machine *machine, const uint16_t *sm_cluster);
void arbiter_rules_clear(ArbiterRules *rules);
void arbiter_clear(Arbiter *arbiter);

/* The part waits behind those of its group. */
void arbiter_wait(Arbiter *arbiter, const ArbiterRules *rules, PartQueue *queue, uint32_t part);
/* Takes out the part that is next: of the first group behind the last one that has any. Somebody waits. */
uint32_t arbiter_next(Arbiter *arbiter, const ArbiterRules *rules, const PartQueue *queue);
/* Takes out the next part of the group that had the last turn, if that takes no time of its own (MemRequest.rides).
 * PART_NONE: it does, or there is none. */
uint32_t arbiter_rider(Arbiter *arbiter, const PartQueue *queue);
/* Takes out a load of `line` that is the next one of its group. PART_NONE: there is none. */
uint32_t arbiter_load(Arbiter *arbiter, const ArbiterRules *rules, const PartQueue *queue, uint32_t line);

#endif
