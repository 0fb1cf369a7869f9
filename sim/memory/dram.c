#include "sim/memory/dram.h"

#include <glib.h>

#include "base/bits.h"
#include "sim/memory/mem_clock.h"

void dram_init(Dram *dram, const Machine *machine) {
  uint32_t line = machine->memory.l2.line, row = MAX(machine->memory.dram.row, line);
  uint32_t slices = machine->memory.slices / machine->memory.l2.halves;
  *dram = (Dram){.latency = mem_clock_dram(machine, machine->memory.dram.latency),
                 .row_busy = mem_clock_dram(machine, machine->memory.dram.row_interval),
                 .sector_busy = mem_clock_dram(machine, machine->memory.dram.sector_interval),
                 .channels = machine->memory.dram.channels,
                 .banks = machine->memory.dram.banks,
                 .row_shift = (uint32_t)__builtin_ctz(row / line),
                 .slices_each = MAX(slices / machine->memory.dram.channels, 1u)};
  dram->free_at = g_new0(uint64_t, dram->channels);
  dram->bank = g_new0(DramBank, dram->channels * dram->banks);
}

void dram_clear(Dram *dram) {
  g_free(dram->free_at);
  g_free(dram->bank);
}

uint64_t dram_move(Dram *dram, uint32_t slice, uint64_t line, uint32_t sectors, uint64_t milli, ChannelStats *stats) {
  uint32_t channel = dram_channel(dram, slice);
  uint64_t row = (line / dram->channels) >> dram->row_shift;
  DramBank *bank = &dram->bank[channel * dram->banks + row % dram->banks];
  uint64_t start = MAX(milli, dram->free_at[channel]), extra = 0;
  if (bank->row != row + 1) {
    start = MAX(start, bank->free_at);
    bank->row = row + 1;
    bank->free_at = start + dram->row_busy;
    extra = dram->row_busy;
    stats->rows++;
  }
  uint64_t busy = dram->sector_busy * bits_count(sectors);
  stats->busy += busy;
  dram->free_at[channel] = MAX(milli, dram->free_at[channel]) + busy;
  return start + extra + dram->latency + busy;
}
