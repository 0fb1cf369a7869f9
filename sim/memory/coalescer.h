/* coalescer.h - a warp's access as parts: one for each line that its lanes touch, with the sectors that they touch of it.
 * Models: lanes to lines and sectors; parts in the order of their first lanes; how long an atomic unit is busy with the lanes of a part:
 * those on one word take turns, and sectors follow each other (memory.atomic.word_interval, sector_interval).
 * Does not model: lines by halves or quarters of a warp.
 * Time: none. */
#ifndef LOCKSTEP_MEMORY_COALESCER_H
#define LOCKSTEP_MEMORY_COALESCER_H

#include "sim/machine/machine.h"
#include "sim/memory/mem_request.h"

typedef struct Coalescer {
  uint32_t line_shift, sector_shift;
  uint64_t word_milli, sector_milli; /* of the atomic unit */
} Coalescer;

typedef struct Piece {
  uint64_t line; /* its number: address / memory.l2.line */
  uint32_t lanes, sectors;
} Piece;

/* How many bits are set. Few, mostly: a call of a library's popcount costs more. */
static inline uint32_t coalescer_count(uint32_t bits) {
  static const uint8_t few[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
  uint32_t count = 0;
  for (; bits; bits >>= 4)
    count += few[bits & 15];
  return count;
}

void coalescer_init(Coalescer *coalescer, const Machine *machine);
/* Returns how many there are, 1 to 32 (0 of no lanes). Each lane's bytes are aligned, and lie in one sector. */
uint32_t coalescer_split(const Coalescer *coalescer, const MemRequest *request, Piece pieces[32]);
/* Turns in the atomic unit: of lanes on one word one after the other, and of sectors. *busy: how long the unit takes for them. */
uint32_t coalescer_turns(const Coalescer *coalescer, const MemRequest *request, const Piece *piece, uint64_t *busy);

#endif
