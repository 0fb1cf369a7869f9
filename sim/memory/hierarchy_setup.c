#include "base/pages.h"
#include "sim/engine/rng.h"
#include "sim/memory/hierarchy.h"
#include "sim/memory/hierarchy_inner.h"
#include "sim/memory/mem_clock.h"

static void init_times(Hierarchy *h, const Machine *machine) {
  h->load = mem_clock_core(machine, machine->memory.l2.load_interval);
  h->load_sector = mem_clock_core(machine, machine->memory.l2.load_sector_interval);
  h->store = mem_clock_core(machine, machine->memory.l2.store_interval);
  h->store_sector = mem_clock_core(machine, machine->memory.l2.store_sector_interval);
  h->store_again = mem_clock_core(machine, machine->memory.l2.store_again_interval);
  h->shared_store = mem_clock_core(machine, machine->memory.l2.shared_store_interval);
  h->atomic = mem_clock_core(machine, machine->memory.l2.atomic_interval);
  h->latency = mem_clock_core(machine, machine->memory.l2.latency);
  h->switch_latency = (uint32_t)mem_clock_core(machine, machine->memory.atomic.switch_latency);
  h->pass = mem_clock_core(machine, machine->memory.l2.pass_interval);
  uint64_t reduction = mem_clock_core(machine, machine->memory.l2.pass_reduction_interval);
  h->pass_reduction = reduction ? reduction : h->pass;
  h->write_back = (uint32_t)milli_cycle(mem_clock_core(machine, machine->memory.l2.write_back_latency));
  h->copy_latency = (uint32_t)milli_cycle(mem_clock_core(machine, machine->memory.l2.copy_latency));
  h->read_window = (uint32_t)milli_cycle(mem_clock_core(machine, machine->memory.l2.write_after_read_window));
  h->write_after_read = mem_clock_core(machine, machine->memory.l2.write_after_read_interval);
  h->invalidate = mem_clock_core(machine, machine->memory.l2.invalidate_latency);
  h->atomic_latency = mem_clock_core(machine, machine->memory.atomic.latency);
  h->exchange_latency = mem_clock_core(machine, machine->memory.atomic.exchange_latency);
  h->reduction_latency = mem_clock_core(machine, machine->memory.atomic.reduction_latency);
  h->fence_least = machine->memory.fence_least;
  h->quad_latency = (uint32_t)mem_clock_core(machine, milli_of(machine->memory.port.quad_latency));
  h->fence_probe = machine->memory.fence_probe;
  h->fence_system = machine->memory.fence_system;
  h->host_latency = milli_of(machine->host.latency) / 2;
  h->host_busy = machine->host.link_interval;
  uint64_t shortest = MIN(MIN(h->crossbar.latency, h->crossbar.reply_latency + h->latency), h->host_latency);
  h->window = MAX((uint32_t)(shortest / MILLI_CYCLE), 1u);
}

Hierarchy *hierarchy_new(const Machine *machine, uint64_t seed, Backing *backing, const MemClient *client,
                         Counters *counters) {
  Hierarchy *h = g_new0(Hierarchy, 1);
  h->client = *client;
  h->counters = counters;
  h->backing = backing;
  h->sms = machine->gpu.sms;
  h->slices = machine->memory.slices;
  coalescer_init(&h->coalescer, machine);
  slice_map_init(&h->map, machine, seed);
  crossbar_init(&h->crossbar, machine, seed);
  port_rules_init(&h->port_rules, machine);
  atomic_rules_init(&h->atomic_rules, machine);
  arbiter_rules_init(&h->arbiter_rules, machine, h->crossbar.sm_cluster);
  gates_init(&h->gates, machine, h->arbiter_rules.sm_group, h->arbiter_rules.groups);
  tags_init(&h->tags, machine);
  dram_init(&h->dram, machine);
  part_queue_init(&h->queue, h->sms);
  init_times(h, machine);
  mem_stats_init(&h->stats, machine);
  h->port = PAGES_NEW(Port, h->sms);
  for (uint32_t sm = 0; sm < h->sms; sm++)
    port_init(&h->port[sm], &h->port_rules);
  h->issue = PAGES_NEW(Port, h->sms);
  h->slice = PAGES_NEW(Slice, h->slices);
  for (uint32_t i = 0; i < h->slices; i++) {
    h->slice[i] = (Slice){0};
    atomic_unit_init(&h->slice[i].atomics);
  }
  h->late_stores = machine->memory.late_stores;
  h->late_seed = rng_mix(seed);
  if (h->late_stores)
    h->late = PAGES_NEW(LateLines, (gsize)h->sms);
  if (h->read_window)
    h->recent_loads = PAGES_NEW(RecentLoads, h->slices);
  if (machine->memory.l2.halves == 2) {
    h->away = PAGES_NEW(Away, (gsize)h->sms * AWAY_LINES);
    h->passing = PAGES_NEW(uint32_t, 2 * PASSING_LINES);
  }
  for (uint32_t i = 0; h->away && i < h->sms * AWAY_LINES; i++)
    h->away[i] = (Away){.parked = {PART_NONE, PART_NONE}};
  return h;
}

void hierarchy_free(Hierarchy *h) {
  for (uint32_t sm = 0; sm < h->sms; sm++)
    port_clear(&h->port[sm]);
  for (uint32_t sm = 0; sm < h->sms; sm++)
    port_clear(&h->issue[sm]);
  for (uint32_t i = 0; i < h->slices; i++) {
    atomic_unit_clear(&h->slice[i].atomics);
    arbiter_clear(&h->slice[i].arbiter);
    untagged_clear(&h->slice[i].untagged);
  }
  crossbar_clear(&h->crossbar);
  arbiter_rules_clear(&h->arbiter_rules);
  gates_clear(&h->gates);
  tags_clear(&h->tags);
  dram_clear(&h->dram);
  part_queue_clear(&h->queue);
  mem_stats_clear(&h->stats);
  for (uint32_t i = 0; i < h->shares; i++)
    g_free(h->share[i].done);
  g_free(h->share);
  pages_free(h->port);
  pages_free(h->issue);
  pages_free(h->slice);
  pages_free(h->recent_loads);
  pages_free(h->away);
  pages_free(h->passing);
  pages_free(h->late);
  g_free(h);
}

void hierarchy_enlarge(Hierarchy *h) { pages_enlarge(h->tags.memory); }

const MemStats *hierarchy_stats(Hierarchy *h) {
  for (uint32_t i = 0; i < h->slices; i++)
    h->stats.slice[i].atomic_busy = h->slice[i].atomics.busy;
  for (uint32_t sm = 0; sm < h->sms; sm++) {
    h->stats.port[sm].out = h->port[sm].out;
    h->stats.port[sm].in = h->port[sm].in;
  }
  return &h->stats;
}

void hierarchy_follow(Hierarchy *h, MemFollower follower) {
  part_queue_follow(&h->queue);
  h->client.part = follower;
}

uint32_t hierarchy_window(const Hierarchy *h) { return h->window; }
