#include "sim/memory/mem_stats.h"

#include <glib.h>

void mem_stats_init(MemStats *stats, const Machine *machine) {
  bool units = machine->memory.slices != 0;
  *stats = (MemStats){.form = !units                     ? MEM_IS_SERVER
                              : machine->memory.l2.bytes ? MEM_IS_L2
                                                         : MEM_IS_PARTITIONS,
                      .slices = units ? machine->memory.slices : 1,
                      .sms = machine->gpu.sms,
                      .channels = units ? machine->memory.dram.channels : 0};
  stats->slice = g_new0(SliceStats, stats->slices);
  stats->port = g_new0(PortStats, stats->sms);
  stats->channel = g_new0(ChannelStats, stats->channels);
}

void mem_stats_clear(MemStats *stats) {
  g_free(stats->slice);
  g_free(stats->port);
  g_free(stats->channel);
}
