#include "sim/memory/arbiter.h"

void arbiter_rules_init(ArbiterRules *rules, const Machine *machine, const uint16_t *sm_cluster) {
  uint32_t sms = machine->gpu.sms, tpc = machine->memory.crossbar.tpc_sms,
           clusters = machine->memory.crossbar.clusters,
           groups = machine->memory.atomic.occupies == ATOMIC_OCCUPIES_LINE ? 1 : machine->memory.atomic.groups;
  uint32_t of_cluster = MAX(groups / clusters, 1), together = clusters * of_cluster * tpc;
  uint32_t size = (sms + together - 1) / together * tpc; /* SMs of a group, at most */
  g_autofree uint32_t *seen = g_new0(uint32_t, clusters);
  *rules = (ArbiterRules){.groups = groups, .sm_group = g_new0(uint16_t, sms)};
  for (uint32_t sm = 0; sm < sms; sm++) {
    uint32_t cluster = sm_cluster[sm], group = seen[cluster]++ / size;
    rules->sm_group[sm] = (uint16_t)((cluster * of_cluster + MIN(group, of_cluster - 1)) % groups);
  }
}

void arbiter_rules_clear(ArbiterRules *rules) { g_free(rules->sm_group); }

void arbiter_clear(Arbiter *arbiter) { g_free(arbiter->group); }

void arbiter_wait(Arbiter *arbiter, const ArbiterRules *rules, PartQueue *queue, uint32_t part) {
  if (!arbiter->group) {
    arbiter->group = g_new(PartList, rules->groups);
    for (uint32_t i = 0; i < rules->groups; i++)
      arbiter->group[i] = (PartList){PART_NONE, PART_NONE};
  }
  part_list_append(queue, &arbiter->group[rules->sm_group[part_at(queue, part)->sm]], part);
  arbiter->waiting++;
}

static uint32_t take_first(Arbiter *arbiter, const PartQueue *queue, uint32_t group) {
  uint32_t part = arbiter->group[group].first;
  arbiter->group[group].first = part_at(queue, part)->next;
  arbiter->waiting--;
  return part;
}

uint32_t arbiter_next(Arbiter *arbiter, const ArbiterRules *rules, const PartQueue *queue) {
  do
    arbiter->served = arbiter->served + 1 < rules->groups ? arbiter->served + 1 : 0;
  while (arbiter->group[arbiter->served].first == PART_NONE);
  return take_first(arbiter, queue, arbiter->served);
}

uint32_t arbiter_rider(Arbiter *arbiter, const PartQueue *queue) {
  uint32_t first = arbiter->waiting ? arbiter->group[arbiter->served].first : PART_NONE;
  bool rides = first != PART_NONE && part_at(queue, first)->kind == MEM_ATOMIC && part_at(queue, first)->shape.joined;
  return rides ? take_first(arbiter, queue, arbiter->served) : PART_NONE;
}

uint32_t arbiter_load(Arbiter *arbiter, const ArbiterRules *rules, const PartQueue *queue, uint32_t line) {
  for (uint32_t group = 0; arbiter->waiting && group < rules->groups; group++) {
    uint32_t first = arbiter->group[group].first;
    if (first != PART_NONE && part_at(queue, first)->kind == MEM_LOAD && part_at(queue, first)->line == line)
      return take_first(arbiter, queue, group);
  }
  return PART_NONE;
}
