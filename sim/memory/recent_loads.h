/* recent_loads.h - lines of a slice that were loaded a short time ago.
 * Models: the first store to such a line keeps the slice busy (memory.l2.write_after_read_window,
 * write_after_read_interval). Loads and stores of many lines by turns are nearly as fast as each kind alone, those of
 * few lines four times slower; loads and atomic operations aren't, nor is a store that its own thread loads behind
 * (validation/hardware/mem_turns.cu).
 * Does not model: of two lines that share a place the first one; that only loads and stores by SMs of one half of the
 * L2 do that to each other (mem_sides.cu); why it is so.
 * Ownership: the caller's. */
#ifndef LOCKSTEP_MEMORY_RECENT_LOADS_H
#define LOCKSTEP_MEMORY_RECENT_LOADS_H

#include <stdbool.h>
#include <stdint.h>

enum { RECENT_LOADS = 64 };

/* Of a slice. */
typedef struct RecentLoads {
  uint64_t until[RECENT_LOADS]; /* cycle */
  uint32_t line[RECENT_LOADS];
} RecentLoads;

static inline uint32_t recent_loads_place(uint32_t line) { return line * UINT32_C(0x9e3779b1) >> 26; }

/* A load of the line counts until that cycle. */
static inline void recent_loads_add(RecentLoads *loads, uint32_t line, uint64_t until) {
  uint32_t place = recent_loads_place(line);
  loads->line[place] = line;
  loads->until[place] = until;
}
/* A store to the line: true if it is the first behind a load that counts. */
static inline bool recent_loads_end(RecentLoads *loads, uint32_t line, uint64_t cycle) {
  uint32_t place = recent_loads_place(line);
  if (loads->until[place] <= cycle || loads->line[place] != line)
    return false;
  loads->until[place] = 0;
  return true;
}

#endif
