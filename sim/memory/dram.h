/* dram.h - the memory behind the slices: channels with banks, each with one open row.
 * Models: a latency, a longer one and a busy bank where another row was open, the time that a channel's bus takes for
 * each sector; first come, first served in each channel.
 * Does not model: commands, refresh, reads before writes, reordering for open rows.
 * Time: thousandths of an SM cycle. Calls come by rising time. */
#ifndef LOCKSTEP_MEMORY_DRAM_H
#define LOCKSTEP_MEMORY_DRAM_H

#include "sim/memory/mem_stats.h"

typedef struct DramBank {
  uint64_t row; /* the open one and 1 */
  uint64_t free_at;
} DramBank;

typedef struct Dram {
  uint64_t latency, row_busy, sector_busy;
  uint32_t channels, banks, row_shift, slices_each; /* rows in lines; slices of each channel */
  uint64_t *free_at;                                /* the bus of each channel */
  DramBank *bank;
} Dram;

void dram_init(Dram *dram, const Machine *machine);
void dram_clear(Dram *dram);
/* The channel of a slice (of the first half). */
static inline uint32_t dram_channel(const Dram *dram, uint32_t slice) {
  return slice / dram->slices_each % dram->channels;
}
/* Moves sectors of a line of that slice. Returns when they are back (of a write-back: when it is done). Counts rows
 * and time in `stats`, which are those of the slice's channel. */
uint64_t dram_move(Dram *dram, uint32_t slice, uint64_t line, uint32_t sectors, uint64_t milli, ChannelStats *stats);

#endif
