/* coalescer.h - a warp's access as pieces: one for each line that its lanes touch, with the sectors that they touch
 * of it.
 * Models: lanes to lines and sectors; pieces in the order of their first lanes; how long an atomic unit is busy with
 * the lanes of a piece: those on one word take turns, and sectors follow each other (memory.atomic.word_interval,
 * sector_interval). A lane's operation on a queue takes the word's time and the slot's; which slot it will be isn't
 * known when it sets out, so that its part has all sectors of the queue.
 * Does not model: lines by halves or quarters of a warp.
 * Time: none. */
#ifndef LOCKSTEP_MEMORY_COALESCER_H
#define LOCKSTEP_MEMORY_COALESCER_H

#include "sim/machine/machine.h"
#include "sim/memory/mem_request.h"

typedef struct Coalescer {
  uint32_t line_shift, sector_shift, span_shift; /* the last: memory.atomic.cas_span */
  uint64_t word_milli, float_milli, double_milli, sector_milli, cas_milli; /* of the atomic unit */
  uint64_t queue_milli;                         /* of an operation on a queue: its word, and a slot */
  uint32_t queue_bytes;
} Coalescer;

void coalescer_init(Coalescer *coalescer, const Machine *machine);
/* Makes the pieces of the request, for up to MEM_PIECES of which there is room, and returns how many there are: 1 to
 * 32 (0 of no lanes). Each lane's bytes are aligned, and lie in one sector. */
uint32_t coalescer_split(const Coalescer *coalescer, const MemRequest *request, MemPiece piece[]);
/* The line of a piece: its number, address / memory.l2.line. */
static inline uint64_t coalescer_line(const Coalescer *coalescer, const MemRequest *request, const MemPiece *piece) {
  return request->address[__builtin_ctz(piece->lanes)] >> coalescer->line_shift;
}
/* Of a piece of an atomic: its turns in the atomic unit, of lanes on one word one after the other, and of sectors;
 * and how long the unit takes for them. */
void coalescer_turns(const Coalescer *coalescer, const MemRequest *request, MemPiece *piece);

#endif
