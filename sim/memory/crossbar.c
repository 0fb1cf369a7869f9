#include "sim/memory/crossbar.h"

#include <glib.h>

#include "sim/engine/rng.h"
#include "sim/memory/mem_clock.h"

enum { FIRST_TOGETHER = 10 /* SMs that belong to one half whatever the seed: see h200.yaml */ };

/* Half of up to `spread` (an offset counts there and back). The square of a uniform number: short ways are more frequent. */
static uint32_t draw(Rng *rng, uint64_t spread) {
  uint64_t uniform = rng_next(rng) >> 48;
  return (uint32_t)(spread * (uniform * uniform >> 16) >> 17);
}

/* The first ten SMs belong to one half, so that a few blocks do; the TPCs behind them are dealt at random, as many to each. */
static void deal_halves(Crossbar *crossbar, const Machine *machine, Rng *rng) {
  uint32_t sms = machine->gpu.sms, tpc = machine->memory.crossbar.tpc_sms, room[2] = {sms / 2, sms - sms / 2};
  for (uint32_t first = 0; first < sms; first += tpc) {
    uint32_t half = first < FIRST_TOGETHER ? 0 : rng_below(rng, room[0] + room[1]) >= room[0];
    for (uint32_t sm = first; sm < MIN(first + tpc, sms); sm++) {
      crossbar->sm_half[sm] = (uint8_t)half;
      room[half] -= room[half] > 0;
    }
  }
}

/* TPCs of a half belong to its clusters at random, as many to each; the first SMs, which are together, to one. */
static void deal_clusters(Crossbar *crossbar, const Machine *machine, Rng *rng) {
  uint32_t sms = machine->gpu.sms, tpc = machine->memory.crossbar.tpc_sms,
           clusters = machine->memory.crossbar.clusters;
  uint32_t each = MAX(clusters / machine->memory.l2.halves, 1), most = (sms + clusters * tpc - 1) / (clusters * tpc);
  g_autofree uint32_t *tpcs = g_new0(uint32_t, clusters);
  for (uint32_t first = 0; first < sms; first += tpc) {
    uint32_t cluster = first < FIRST_TOGETHER ? 0 : rng_below(rng, each), base = crossbar->sm_half[first] * each;
    for (uint32_t i = 0; i < each && tpcs[(base + cluster) % clusters] >= most; i++)
      cluster = (cluster + 1) % each;
    tpcs[(base + cluster) % clusters]++;
    for (uint32_t sm = first; sm < MIN(first + tpc, sms); sm++)
      crossbar->sm_cluster[sm] = (uint16_t)((base + cluster) % clusters);
  }
}

/* What each cluster and each slice have between them: any amount as often as any other. */
static void draw_pairs(Crossbar *crossbar, const Machine *machine, Rng *rng) {
  uint64_t spread = mem_clock_core(machine, machine->memory.crossbar.pair_spread);
  for (uint32_t i = 0; spread && i < crossbar->slices * machine->memory.crossbar.clusters; i++)
    crossbar->slice_offset[i] += rng_below(rng, (uint32_t)(spread / 2) + 1);
}

static void draw_offsets(Crossbar *crossbar, const Machine *machine, Rng *rng) {
  uint64_t sm_spread = mem_clock_core(machine, machine->memory.crossbar.sm_spread);
  uint64_t slice_spread = mem_clock_core(machine, machine->memory.crossbar.slice_spread);
  uint32_t slices = crossbar->slices, all = slices * machine->memory.crossbar.clusters;
  for (uint32_t sm = 0; sm < machine->gpu.sms; sm++)
    crossbar->sm_offset[sm] =
        sm % machine->memory.crossbar.tpc_sms ? crossbar->sm_offset[sm - 1] : draw(rng, sm_spread);
  for (uint32_t i = 0; i < all; i++)
    crossbar->slice_offset[i] = i < slices ? draw(rng, slice_spread) : crossbar->slice_offset[i - slices];
}

/* Neighbours of a plane share a link, both ways. */
static void link_halves(Crossbar *crossbar, const Machine *machine) {
  uint32_t planes = machine->memory.crossbar.planes, together = machine->memory.crossbar.far_slices;
  uint32_t links = (crossbar->half_slices / planes + together) / together; /* of a plane, one more than are used */
  for (uint32_t slice = 0; slice < crossbar->slices; slice++) {
    uint32_t in_half = slice % crossbar->half_slices;
    crossbar->far_link[slice] = (uint16_t)(in_half % planes * links + in_half / planes / together);
  }
}

/* The ways that SMs of a cluster share. */
static void share_ways(Crossbar *crossbar, const Machine *machine) {
  uint32_t clusters = machine->memory.crossbar.clusters;
  uint64_t reduction = mem_clock_core(machine, machine->memory.crossbar.far_reduction_interval);
  crossbar->far_reduction = reduction ? reduction : crossbar->far_busy;
  crossbar->cluster_ports = machine->memory.crossbar.cluster_ports;
  crossbar->cluster_byte = mem_clock_core(machine, machine->memory.crossbar.cluster_byte_interval);
  crossbar->cluster_sector = mem_clock_core(machine, machine->memory.crossbar.cluster_sector_interval);
  crossbar->cluster_cas = mem_clock_core(machine, machine->memory.crossbar.cluster_cas_interval);
  crossbar->sector_bytes = machine->memory.l2.sector;
  crossbar->shares = crossbar->cluster_ports || crossbar->cluster_byte;
  crossbar->cluster_free = g_new0(uint64_t, clusters);
  crossbar->line_due = crossbar->shares ? g_new0(uint64_t, (gsize)machine->gpu.sms * CROSSBAR_LINES) : NULL;
  crossbar->cluster_slice_free = g_new0(uint64_t, crossbar->cluster_byte ? clusters * crossbar->slices : 1);
}

void crossbar_init(Crossbar *crossbar, const Machine *machine, uint64_t seed) {
  Rng rng;
  rng_seed(&rng, seed, 0x786261); /* a stream of its own */
  uint32_t sms = machine->gpu.sms, slices = machine->memory.slices;
  *crossbar = (Crossbar){.latency = mem_clock_core(machine, machine->memory.crossbar.latency),
                         .reply_latency = mem_clock_core(machine, machine->memory.crossbar.reply_latency),
                         .far = mem_clock_core(machine, machine->memory.crossbar.far_latency),
                         .far_reply = mem_clock_core(machine, machine->memory.crossbar.far_reply_latency),
                         .far_atomic = mem_clock_core(machine, machine->memory.crossbar.far_atomic_latency),
                         .slices = slices,
                         .half_slices = MAX(slices / machine->memory.l2.halves, 1u),
                         .sm_offset = g_new0(uint32_t, sms),
                         .slice_offset = g_new0(uint32_t, slices * machine->memory.crossbar.clusters),
                         .far_offset = g_new0(uint32_t, slices),
                         .sm_cluster = g_new0(uint16_t, sms),
                         .sm_half = g_new0(uint8_t, sms),
                         .port_free = g_new0(uint64_t, slices),
                         .port_busy = mem_clock_core(machine, machine->memory.crossbar.port_interval),
                         .port_slices = machine->memory.crossbar.port_slices,
                         .path_part = mem_clock_core(machine, machine->memory.crossbar.tpc_part_interval),
                         .path_line = mem_clock_core(machine, machine->memory.crossbar.tpc_line_interval),
                         .path_load = mem_clock_core(machine, machine->memory.crossbar.tpc_load_interval),
                         .path_atomic = mem_clock_core(machine, machine->memory.crossbar.tpc_atomic_interval),
                         .path_exchange = mem_clock_core(machine, machine->memory.crossbar.tpc_exchange_interval),
                         .tpc_sms = machine->memory.crossbar.tpc_sms,
                         .line_sectors = machine->memory.l2.line / machine->memory.l2.sector,
                         .far_free = g_new0(uint64_t, slices + machine->memory.crossbar.planes),
                         .far_busy = mem_clock_core(machine, machine->memory.crossbar.far_interval),
                         .far_link = g_new0(uint16_t, slices),
                         .back_free = g_new0(uint64_t, slices + machine->memory.crossbar.planes),
                         .far_sector = mem_clock_core(machine, machine->memory.crossbar.far_sector_interval)};
  uint64_t far_spread = mem_clock_core(machine, machine->memory.crossbar.far_spread);
  share_ways(crossbar, machine);
  if (crossbar->path_part | crossbar->path_line | crossbar->path_load | crossbar->path_atomic |
      crossbar->path_exchange)
    crossbar->path_free = g_new0(uint64_t, sms / crossbar->tpc_sms + 1);
  crossbar->shares |= crossbar->path_free != NULL;
  link_halves(crossbar, machine);
  draw_offsets(crossbar, machine, &rng);
  if (machine->memory.l2.halves == 2)
    deal_halves(crossbar, machine, &rng);
  deal_clusters(crossbar, machine, &rng);
  draw_pairs(crossbar, machine, &rng);
  for (uint32_t slice = 0; far_spread && slice < crossbar->half_slices; slice++)
    crossbar->far_offset[slice] = rng_below(&rng, (uint32_t)(far_spread / 2) + 1);
}

void crossbar_clear(Crossbar *crossbar) {
  g_free(crossbar->sm_offset);
  g_free(crossbar->slice_offset);
  g_free(crossbar->far_offset);
  g_free(crossbar->sm_cluster);
  g_free(crossbar->sm_half);
  g_free(crossbar->port_free);
  g_free(crossbar->path_free);
  g_free(crossbar->cluster_free);
  g_free(crossbar->cluster_slice_free);
  g_free(crossbar->line_due);
  g_free(crossbar->far_free);
  g_free(crossbar->far_link);
  g_free(crossbar->back_free);
}
