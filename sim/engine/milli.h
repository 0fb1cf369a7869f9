/* milli.h - times with fractions: thousandths of a cycle, so that 1.45 cycles are exact. Whole cycles below 2^54
 * convert without loss; a server that takes 1.45 cycles for each of 20 things is free after 29, in every run.
 * A time in thousandths has `milli` in its name. */
#ifndef LOCKSTEP_ENGINE_MILLI_H
#define LOCKSTEP_ENGINE_MILLI_H

#include <stdint.h>

/* An interval: a parameter in thousandths of a cycle. */
typedef uint32_t Milli;

enum { MILLI_CYCLE = 1000 };

static inline uint64_t milli_of(uint64_t cycle) { return cycle * MILLI_CYCLE; }
/* The cycle in which what happens at `milli` can be seen: the first that isn't earlier. */
static inline uint64_t milli_cycle(uint64_t milli) { return (milli + MILLI_CYCLE - 1) / MILLI_CYCLE; }

/* Something comes in cycle `now` to a server that is free from *free_milli on, and takes it for `busy_milli`. Returns
 * when that starts. */
static inline uint64_t milli_serve(uint64_t *free_milli, uint64_t now, uint64_t busy_milli) {
  uint64_t arrival = milli_of(now), start = arrival > *free_milli ? arrival : *free_milli;
  *free_milli = start + busy_milli;
  return start;
}

#endif
